import type { BaseContext } from "../base-context.ts";
import { lastName, loadVerbs, nest, type Group, type Verb } from "../group.ts";
import { flagOf, type Option } from "../option.ts";

/** A word of the command line with all that may follow: its verbs, or where it is a verb its options and what it acts on. */
export interface Word {
  readonly name: string;
  readonly summary: string;
  readonly verbs: readonly Word[];
  readonly options: readonly Flag[];
  /** What its first argument may be, where that is a few words. */
  readonly words: readonly string[];
}

/** An option as it is typed. */
export interface Flag {
  readonly long: string;
  readonly short?: string;
  readonly summary: string;
  /** Undefined for an option that takes no text. */
  readonly text?: { readonly placeholder: string; readonly words: readonly string[]; readonly isFile: boolean };
}

/** Reads from the verbs' own declarations all that can be typed. */
export async function wordsOf<C extends BaseContext>(groups: readonly Group<C>[]): Promise<Word[]> {
  return await Promise.all(
    nest(groups).map(async ({ group, within }): Promise<Word> => {
      const inner = await Promise.all(within.map(async (one) => await wordFor(one, [])));
      return await wordFor(group, inner);
    }),
  );
}

async function wordFor<C extends BaseContext>(group: Group<C>, inner: readonly Word[]): Promise<Word> {
  const verbs = (await loadVerbs(group)).map((verb) => wordOf(verb));
  const [only] = verbs;
  if ("load" in group && only) return only;
  return { name: lastName(group), summary: group.summary, verbs: [...verbs, ...inner], options: [help], words: [] };
}

const help: Flag = { long: "--help", short: "-h", summary: "Show this help" };

function wordOf<C extends BaseContext>({ name, summary, args, options }: Verb<C>): Word {
  const flags = Object.entries(options).map(([key, option]) => flagFor(key, option));
  return { name, summary, verbs: [], options: [...flags, help], words: Object.values(args)[0]?.words ?? [] };
}

function flagFor(key: string, { summary, short, placeholder, words = [] }: Option<unknown>): Flag {
  return {
    long: flagOf(key),
    summary,
    ...(short && { short: `-${short}` }),
    ...(placeholder && { text: { placeholder, words, isFile: placeholder.endsWith("file") } }),
  };
}
