import type { Flag, Word } from "./words.ts";

/** A script for zsh that completes the words of a program, to be read or to lie in the path of functions. */
export function zshCompletion(name: string, words: readonly Word[]): string {
  return `#compdef ${name}
# zsh completion for ${name}; made by: ${name} completion zsh
_${name}() {
  if ((CURRENT == 2)); then
    local -a verbs=(${described(words)})
    _describe verb verbs
    _arguments '(-V --version)'{-V,--version}'[Print the version]' '(-h --help)'{-h,--help}'[Show this help]'
    return
  fi
  case $words[2] in
${words.map((word) => caseOf(word, 1)).join("\n")}
  esac
}
if [[ \${funcstack[1]} == _${name} ]]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

/** A word with so many before it: a verb, or a group with what may follow it. */
function caseOf(word: Word, before: number): string {
  const indent = "    ".repeat(before);
  if (word.verbs.length === 0) return `${indent}${word.name}) ${argumentsOf(word, before)} ;;`;
  return [
    `${word.name})`,
    `  if ((CURRENT == ${before + 2})); then`,
    `    local -a verbs=(${described(word.verbs)})`,
    "    _describe verb verbs",
    "    return",
    "  fi",
    `  case $words[${before + 2}] in`,
    ...word.verbs.map((verb) => caseOf(verb, before + 1).slice(indent.length)),
    "  esac",
    "  ;;",
  ]
    .map((line) => `${indent}${line}`)
    .join("\n");
}

/**
 * The words before the verb are taken away, so that its arguments are counted from one. Behind an argument that is not
 * declared, zsh completes no option either: any word is one of which nothing is known.
 */
function argumentsOf({ options, words }: Word, before: number): string {
  const argument = words.length > 0 ? `'1:word:(${words.join(" ")})'` : "'*: : '";
  return `shift ${before} words; ((CURRENT -= ${before})); _arguments ${[...options.map(flagOf), argument].join(" ")}`;
}

function flagOf({ long, short, summary, text }: Flag): string {
  const meaning = quote(`[${summary.replaceAll(/[[\]]/g, "\\$&")}]${text === undefined ? "" : valueOf(text)}`);
  return short ? `'(${short} ${long})'{${short},${long}}${meaning}` : `${long}${meaning}`;
}

function valueOf({ placeholder, words, isFile }: NonNullable<Flag["text"]>): string {
  const choice = words.length > 0 ? `(${words.join(" ")})` : " ";
  return `:${placeholder.replaceAll(":", "\\:")}:${isFile ? "_files" : choice}`;
}

const described = (words: readonly Word[]): string =>
  words.map(({ name, summary }) => quote(`${name}:${summary.replaceAll(":", "\\:")}`)).join(" ");

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
