import { defineCommand } from "../command.ts";
import type { Group } from "../group.ts";
import { oneOf } from "../option.ts";
import { bashCompletion } from "./bash.ts";
import { fishCompletion } from "./fish.ts";
import { wordsOf } from "./words.ts";
import { zshCompletion } from "./zsh.ts";

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

/** `perennial completion`, made from what all verbs of these groups declare. */
export const createCompletion = (groups: () => readonly Group[]) =>
  defineCommand({
    name: "completion",
    summary: "Print what completes these command lines in a shell",
    description:
      "Completes verbs, options, their words and files; it asks no cluster. In bash: `source <(perennial completion bash)`, " +
      "in zsh, after compinit: `source <(perennial completion zsh)`, in fish: `perennial completion fish | source`.",
    examples: [
      "perennial completion bash > /etc/bash_completion.d/perennial",
      "perennial completion fish > ~/.config/fish/completions/perennial.fish",
    ],
    args: { shell: oneOf(["bash", "zsh", "fish"], "Shell") },
    options: {},
    async run({ args, context }) {
      context.terminal.out.write(scripts[args.shell](await wordsOf(groups())));
    },
  });
