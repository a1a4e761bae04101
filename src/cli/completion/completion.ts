import type { BaseContext } from "../base-context.ts";
import { defineCommandFor } from "../command.ts";
import type { Group } from "../group.ts";
import { oneOf } from "../option.ts";
import { bashCompletion } from "./bash.ts";
import { fishCompletion } from "./fish.ts";
import { wordsOf } from "./words.ts";
import { zshCompletion } from "./zsh.ts";

const scripts = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;

/** The verb `completion` of the program of this name, made from what all verbs of its groups declare. */
export const createCompletion = <C extends BaseContext>(name: string, groups: () => readonly Group<C>[]) =>
  defineCommandFor<BaseContext>()({
    name: "completion",
    summary: "Print what completes these command lines in a shell",
    description:
      `Completes verbs, options, their words and files; it asks no cluster. In bash: \`source <(${name} completion bash)\`, ` +
      `in zsh, after compinit: \`source <(${name} completion zsh)\`, in fish: \`${name} completion fish | source\`.`,
    examples: [
      `${name} completion bash > /etc/bash_completion.d/${name}`,
      `${name} completion fish > ~/.config/fish/completions/${name}.fish`,
    ],
    args: { shell: oneOf(["bash", "zsh", "fish"], "Shell") },
    options: {},
    async run({ args, context }) {
      context.terminal.out.write(scripts[args.shell](name, await wordsOf(groups())));
    },
  });
