import { CliError } from "./exit.ts";

/** A positional argument; `parse` gets its text, or undefined when it was left out, and what follows it. */
export interface Argument<T> {
  readonly summary: string;
  readonly required: boolean;
  /** Whether all that follows belongs to it; only the last one may have that. */
  readonly many?: boolean;
  /** All that it may be, where that is a few words. */
  readonly words?: readonly string[];
  parse(text: string | undefined, rest: readonly string[]): T;
}

/** An option; without a placeholder it is a flag. `parse` gets every text given for it and the flag's name for its errors. */
export interface Option<T> {
  readonly summary: string;
  readonly short?: string;
  readonly placeholder?: string;
  readonly repeated?: boolean;
  /** Without it, the command line is refused. */
  readonly required?: boolean;
  /** The key of the option without which this one means nothing. */
  readonly needs?: string;
  /** All that its text may be, where that is a few words. */
  readonly words?: readonly string[];
  parse(texts: readonly string[], flag: string): T;
}

/** The flag of an option with this key. */
export function flagOf(key: string): string {
  return `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** How help and documentation write an argument: in angle brackets when it must be there, with dots when it may be many. */
export function argumentInWords(name: string, { required, many = false }: Argument<unknown>): string {
  const words = many ? `${name}...` : name;
  return required ? `<${words}>` : `[${words}]`;
}

/** An option that says more about another one; where that is missing, the command line is refused. */
export function alongside<T>(other: string, option: Option<T>): Option<T> {
  return { ...option, summary: `With ${flagOf(other)}: ${option.summary}`, needs: other };
}

/** An option that must be there; `missing` is said where it is not. */
export function demanded<T>(option: Option<T | undefined>, missing: string): Option<T> {
  return {
    ...option,
    required: true,
    parse(texts, name) {
      const value = option.parse(texts, name);
      if (value === undefined) throw new CliError("usage", missing);
      return value;
    },
  };
}

/** How help and documentation write a verb with all that it must be given, and, in brackets, what it may be. */
export function usageOf(
  args: Readonly<Record<string, Argument<unknown>>>,
  options: Readonly<Record<string, Option<unknown>>>,
): string {
  const needed = Object.entries(options).filter(([, { required: isRequired }]) => isRequired);
  return [
    ...Object.entries(args).map(([name, argument]) => argumentInWords(name, argument)),
    ...needed.map(([key, { short, placeholder }]) => `${short ? `-${short}` : flagOf(key)} <${placeholder}>`),
    ...(Object.keys(options).length > needed.length ? ["[options]"] : []),
  ].join(" ");
}

/** An argument that must be there. */
export function required(summary: string): Argument<string> {
  return { summary, required: true, parse: (text) => text ?? "" };
}

/** An argument of which there must be one, and may be many. */
export function several(summary: string): Argument<readonly string[]> {
  return { summary, required: true, many: true, parse: (text, rest) => (text === undefined ? [] : [text, ...rest]) };
}

/** An argument that must be one of a few words. */
export function oneOf<const T extends string>(words: readonly T[], summary: string): Argument<T> {
  return {
    summary: `${summary}: ${words.join(", ")}`,
    required: true,
    words,
    parse: (text) => pick(words, text, `a ${summary.toLowerCase()}`),
  };
}

/** An argument that may be left out. */
export function optional(summary: string): Argument<string | undefined> {
  return { summary, required: false, parse: (text) => text };
}

/** An argument of which there may be none, and may be many. */
export function anyNumber(summary: string): Argument<readonly string[]> {
  return { ...several(summary), required: false };
}

/** An option that is on when it is named. */
export function flag(summary: string, short?: string): Option<boolean> {
  return { summary, ...(short && { short }), parse: (texts) => texts.length > 0 };
}

/** An option with a text; the last one given wins. An empty one, such as a variable without a value, is refused. */
export function text(placeholder: string, summary: string, short?: string): Option<string | undefined> {
  return { summary, placeholder, ...(short && { short }), parse: lastText };

  function lastText(texts: readonly string[], name: string): string | undefined {
    const given = texts.at(-1);
    if (given === "") throw new CliError("usage", `${name} cannot be "": say ${name} ${placeholder.toUpperCase()}`);
    return given;
  }
}

/** An option that may be given many times. */
export function repeated(placeholder: string, summary: string): Option<readonly string[]> {
  return { summary, placeholder, repeated: true, parse: (texts) => texts };
}

/** An option with one of a few words. */
export function choice<const T extends string>(
  words: readonly T[],
  summary: string,
  short?: string,
): Option<T | undefined> {
  return {
    summary: `${summary}: ${words.join(", ")}`,
    placeholder: "word",
    words,
    ...(short && { short }),
    parse(texts, name) {
      const given = texts.at(-1);
      return given === undefined ? undefined : pick(words, given, name);
    },
  };
}

function pick<T extends string>(words: readonly T[], given: string | undefined, name: string): T {
  const word = words.find((candidate) => candidate === given);
  if (word === undefined) throw new CliError("usage", `${name} cannot be "${given}": use one of ${words.join(", ")}`);
  return word;
}

/** An option with a length of time such as 90s, 10m or 1h30m; its value is in milliseconds. */
export function duration(summary: string): Option<number | undefined> {
  return {
    summary,
    placeholder: "time",
    parse(texts, name) {
      const given = texts.at(-1);
      return given === undefined ? undefined : parseDuration(given, name);
    },
  };
}

/** Reads 1h2m3s or a plain number of seconds into milliseconds. */
function parseDuration(given: string, name: string): number {
  if (/^\d+$/.test(given)) return Number(given) * 1000;
  const match = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(given);
  if (!match || given === "")
    throw new CliError("usage", `${name} cannot be "${given}": use a time such as 90s, 10m or 1h30m`);
  const [, hours = "0", minutes = "0", seconds = "0"] = match;
  return (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
}
