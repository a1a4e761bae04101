import { parseArgs } from "node:util";

/** What was asked of `systemctl`. */
export interface Asked {
  readonly verb: string;
  readonly names: readonly string[];
  readonly flags: Flags;
}

/** Its options, without those that change nothing here. */
export type Flags = ReturnType<typeof parse>["values"];

/** Reads the words of `systemctl`; throws the sentence about one that the runner does not know. */
export function readWords(words: readonly string[]): Asked {
  const { values, positionals } = parse(words);
  const [verb = "list-units", ...names] = positionals;
  return { verb, names, flags: values };
}

function parse(words: readonly string[]) {
  const many = { type: "string", multiple: true } as const;
  const flag = { type: "boolean" } as const;
  return parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      ...{ property: { ...many, short: "p" }, type: { ...many, short: "t" }, state: many },
      ...{ now: flag, wait: flag, value: flag, failed: flag, all: { ...flag, short: "a" } },
      ...{ "no-block": flag, quiet: { ...flag, short: "q" }, plain: flag },
      ...{ "no-pager": flag, "no-legend": flag, full: { ...flag, short: "l" } },
    },
  });
}

/** The values of an option that may be given several times, each with commas. */
export const listed = (values: readonly string[] = []): string[] => values.flatMap((value) => value.split(","));
