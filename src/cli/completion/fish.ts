import type { Flag, Word } from "./words.ts";

/** A script for fish that completes the words of a program. */
export function fishCompletion(name: string, words: readonly Word[]): string {
  const lines = [
    "-f",
    ...words.flatMap((word) => [
      `-n __fish_use_subcommand -a ${word.name} -d ${quote(word.summary)}`,
      ...linesOf(word, `__fish_seen_subcommand_from ${word.name}`),
    ]),
    "-n __fish_use_subcommand -s V -l version -d 'Print the version'",
    "-n __fish_use_subcommand -s h -l help -d 'Show this help'",
  ];
  const head = `# fish completion for ${name}; made by: ${name} completion fish\n`;
  return `${head}${lines.map((line) => `complete -c ${name} ${line}\n`).join("")}`;
}

/** What follows a word, as long as this holds. */
function linesOf({ verbs, options, words }: Word, seen: string): string[] {
  const names = verbs.map(({ name }) => name).join(" ");
  const choice = words.length > 0 ? [`-n ${quote(seen)} -a ${quote(words.join(" "))}`] : [];
  if (verbs.length === 0) return [...choice, ...options.map((flag) => flagLine(flag, seen))];
  return verbs.flatMap((verb) => [
    `-n ${quote(`${seen}; and not __fish_seen_subcommand_from ${names}`)} -a ${verb.name} -d ${quote(verb.summary)}`,
    ...linesOf(verb, `${seen}; and __fish_seen_subcommand_from ${verb.name}`),
  ]);
}

function flagLine({ long, short, summary, text }: Flag, seen: string): string {
  const names = [...(short ? [`-s ${short.slice(1)}`] : []), `-l ${long.slice(2)}`].join(" ");
  return `-n ${quote(seen)} ${names}${valueOf(text)} -d ${quote(summary)}`;
}

function valueOf(text: Flag["text"]): string {
  if (text === undefined) return "";
  if (text.isFile) return " -r -F";
  return text.words.length > 0 ? ` -x -a ${quote(text.words.join(" "))}` : " -x";
}

const quote = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
