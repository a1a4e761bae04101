import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { bashCompletion } from "../../../src/cli/completion/bash.ts";
import { fishCompletion } from "../../../src/cli/completion/fish.ts";
import { wordsOf } from "../../../src/cli/completion/words.ts";
import { zshCompletion } from "../../../src/cli/completion/zsh.ts";
import { defineCommand } from "../../../src/cli/command.ts";
import { createContext } from "../../../src/cli/connection.ts";
import { loadVerbs, type Group } from "../../../src/cli/group.ts";
import { choice, flag, flagOf, oneOf, text } from "../../../src/cli/option.ts";
import { runCli } from "../../../src/cli/perennial.ts";
import { registry } from "../../../src/cli/registry.ts";
import { fakeTerminal } from "./fake-terminal.ts";

const run = promisify(execFile);

it("the completion for bash is a script that bash reads", async () => {
  await run("bash", ["-n", "-c", await printed("bash")]);
});

it.each([
  ["perennial sh", "shoot"],
  ["perennial --v", "--version"],
  ["perennial shoot de", "describe delete"],
  ["perennial shoot describe local -o ", "json yaml"],
  ["perennial shoot list --output w", "wide"],
  ["perennial shoot migrate garden-dev/local --w", "--watch"],
  ["bin/perennial local up --garden-k", "--garden-kubeconfig"],
  ["perennial local ma", "machine"],
  ["perennial local machine cr", "create"],
  ["perennial local machine create a --b", "--bare"],
  ["perennial shoot list --kubeconfig tsconfig.b", "tsconfig.build.json"],
  ["perennial shoot migrate local --to ", ""],
  ["perennial version --o", "--output"],
  ["perennial version -o y", "yaml"],
  ["perennial completion ", "bash zsh fish --help"],
  ["perennial nothing ", ""],
])("the completion for bash answers %j with %j", async (line, answer) => {
  const typed = line.split(" ");
  const script = `${await printed("bash")}
    COMP_WORDS=(${typed.map((word) => `"${word}"`).join(" ")}) COMP_CWORD=${typed.length - 1}
    _perennial; echo "\${COMPREPLY[*]}"; complete -p perennial`;
  const { stdout } = await run("bash", ["-c", script]);
  expect(stdout).toBe(`${answer}\ncomplete -F _perennial perennial\n`);
});

it.each(["bash", "zsh", "fish"])("the completion for %s has every verb and every option there is", async (shell) => {
  const script = await printed(shell);
  for (const group of registry)
    for (const { name, options } of await loadVerbs(group)) {
      expect(script).toContain(name);
      for (const key of Object.keys(options))
        expect(script).toContain(shell === "fish" ? `-l ${flagOf(key).slice(2)}` : flagOf(key));
    }
});

it("the completion for bash has a line for each word, and one for each option with a text", async () => {
  const lines = bashCompletion("perennial", await wordsOf(trees)).split("\n");
  expect(lines.filter((line) => line.startsWith('    "'))).toEqual([
    '    " tree grow --colour" | " tree grow -c") COMPREPLY=($(compgen -W "red green" -- "$current")); return ;;',
    '    " tree grow --kubeconfig") _perennial_files; return ;;',
    '    "") COMPREPLY=($(compgen -W "tree oak --help --version" -- "$current")) ;;',
    '    " tree") COMPREPLY=($(compgen -W "grow --help" -- "$current")) ;;',
    '    " tree grow") COMPREPLY=($(compgen -W "--big --colour --kubeconfig --help" -- "$current")) ;;',
    '    " oak"*) COMPREPLY=($(compgen -W "young old --help" -- "$current")) ;;',
  ]);
});

it("the completion for zsh describes verbs and options, with what zsh reads as more than text escaped", async () => {
  expect(zshCompletion("perennial", await wordsOf(trees))).toBe(String.raw`#compdef perennial
# zsh completion for perennial; made by: perennial completion zsh
_perennial() {
  if ((CURRENT == 2)); then
    local -a verbs=('tree:Trees\: all' 'oak:An oak'\''s age')
    _describe verb verbs
    _arguments '(-V --version)'{-V,--version}'[Print the version]' '(-h --help)'{-h,--help}'[Show this help]'
    return
  fi
  case $words[2] in
    tree)
      if ((CURRENT == 3)); then
        local -a verbs=('grow:Grow a tree')
        _describe verb verbs
        return
      fi
      case $words[3] in
        grow) shift 2 words; ((CURRENT -= 2)); _arguments --big'[Bigger \[no\]]' '(-c --colour)'{-c,--colour}'[Colour: red, green]:word:(red green)' --kubeconfig'[Where]:file:_files' '(-h --help)'{-h,--help}'[Show this help]' '*: : ' ;;
      esac
      ;;
    oak) shift 1 words; ((CURRENT -= 1)); _arguments '(-h --help)'{-h,--help}'[Show this help]' '1:word:(young old)' ;;
  esac
}
if [[ ${"$"}{funcstack[1]} == _perennial ]]; then _perennial "$@"; else compdef _perennial perennial; fi
`);
});

it("the completion for fish has a line for each verb and option, as long as they may follow", async () => {
  expect(fishCompletion("perennial", await wordsOf(trees)))
    .toBe(String.raw`# fish completion for perennial; made by: perennial completion fish
complete -c perennial -f
complete -c perennial -n __fish_use_subcommand -a tree -d 'Trees: all'
complete -c perennial -n '__fish_seen_subcommand_from tree; and not __fish_seen_subcommand_from grow' -a grow -d 'Grow a tree'
complete -c perennial -n '__fish_seen_subcommand_from tree; and __fish_seen_subcommand_from grow' -l big -d 'Bigger [no]'
complete -c perennial -n '__fish_seen_subcommand_from tree; and __fish_seen_subcommand_from grow' -s c -l colour -x -a 'red green' -d 'Colour: red, green'
complete -c perennial -n '__fish_seen_subcommand_from tree; and __fish_seen_subcommand_from grow' -l kubeconfig -r -F -d 'Where'
complete -c perennial -n '__fish_seen_subcommand_from tree; and __fish_seen_subcommand_from grow' -s h -l help -d 'Show this help'
complete -c perennial -n __fish_use_subcommand -a oak -d 'An oak\'s age'
complete -c perennial -n '__fish_seen_subcommand_from oak' -a 'young old'
complete -c perennial -n '__fish_seen_subcommand_from oak' -s h -l help -d 'Show this help'
complete -c perennial -n __fish_use_subcommand -s V -l version -d 'Print the version'
complete -c perennial -n __fish_use_subcommand -s h -l help -d 'Show this help'
`);
});

it("the completion for another shell is refused with those that there are", async () => {
  const terminal = fakeTerminal();
  expect(await complete("tcsh", terminal)).toBe(2);
  expect(terminal.err.text()).toBe('error: a shell cannot be "tcsh": use one of bash, zsh, fish\n');
});

const grow = defineCommand({
  name: "grow",
  summary: "Grow a tree",
  args: {},
  options: {
    big: flag("Bigger [no]"),
    colour: choice(["red", "green"], "Colour", "c"),
    kubeconfig: text("file", "Where"),
  },
  run: async () => {},
});

const oak = defineCommand({
  name: "oak",
  summary: "An oak's age",
  args: { age: oneOf(["young", "old"], "Age") },
  options: {},
  run: async () => {},
});

const trees: readonly Group[] = [
  { name: "tree", summary: "Trees: all", verbs: [async () => grow] },
  { name: "oak", summary: "An oak's age", load: async () => oak },
];

async function printed(shell: string): Promise<string> {
  const terminal = fakeTerminal();
  expect(await complete(shell, terminal)).toBe(0);
  return terminal.out.text();
}

function complete(shell: string, terminal: ReturnType<typeof fakeTerminal>): Promise<number> {
  const { context } = createContext({ terminal, variables: {}, signal: new AbortController().signal });
  return runCli(["completion", shell], registry, context);
}
