import type { Flag, Word } from "./words.ts";

/** A script for bash that completes the words of a program. */
export function bashCompletion(name: string, words: readonly Word[]): string {
  return `# bash completion for ${name}; made by: ${name} completion bash
_${name}_files() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -f -- "$current"))
  compopt -o filenames 2>/dev/null
}
_${name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} verb= depth=2 at
  for ((at = 1; at < COMP_CWORD && at <= depth; at++)); do
    [[ \${COMP_WORDS[at]} == -* ]] || verb+=" \${COMP_WORDS[at]}"
${deeper(words)}  done
  COMPREPLY=()
  case "$verb $before" in
${words.flatMap((word) => textCases("", word, `_${name}_files`)).join("\n")}
  esac
  case "$verb" in
    "") COMPREPLY=($(compgen -W ${quote([...words.map((word) => word.name), "--help", "--version"])} -- "$current")) ;;
${words.flatMap((word) => cases("", word)).join("\n")}
  esac
}
complete -F _${name} ${name}
`;
}

/** Within a group of a group, the verb is the third word. */
function deeper(words: readonly Word[]): string {
  const groups = words.flatMap(({ name, verbs }) =>
    verbs.filter((verb) => verb.verbs.length > 0).map((verb) => `" ${name} ${verb.name}"`),
  );
  return groups.length === 0 ? "" : `    case "$verb" in ${groups.join(" | ")}) depth=3 ;; esac\n`;
}

/** What follows an option that takes a text: one of its words, a file, or what only the user knows. */
function textCases(before: string, { name, verbs, options }: Word, files: string): string[] {
  const path = `${before} ${name}`;
  return [
    ...options.flatMap((flag) => textCase(path, flag, files)),
    ...verbs.flatMap((verb) => textCases(path, verb, files)),
  ];
}

function textCase(path: string, { long, short, text }: Flag, files: string): string[] {
  if (text === undefined) return [];
  const flags = [long, ...(short ? [short] : [])].map((flag) => `"${path} ${flag}"`);
  const answer = text.isFile ? files : `COMPREPLY=($(compgen -W ${quote(text.words)} -- "$current"))`;
  return [`    ${flags.join(" | ")}) ${answer}; return ;;`];
}

/** What follows a word: its verbs, or its options and what it acts on. */
function cases(before: string, { name, verbs, options, words }: Word): string[] {
  const path = `${before} ${name}`;
  const next = [...verbs.map((verb) => verb.name), ...words, ...options.map(({ long }) => long)];
  const isWhole = before !== "" || verbs.length > 0; // else an argument may be the second word
  return [
    `    "${path}"${isWhole ? "" : "*"}) COMPREPLY=($(compgen -W ${quote(next)} -- "$current")) ;;`,
    ...verbs.flatMap((verb) => cases(path, verb)),
  ];
}

const quote = (words: readonly string[]): string => `"${words.join(" ")}"`;
