import { CliError } from "./exit.ts";
import type { Terminal } from "./display/terminal.ts";

/** What is asked before something that is hard to undo. */
export interface Confirmation {
  /** What is about to be done: "deleting Shoot garden-dev/local". */
  readonly doing: string;
  /** Asked before the word; left out where everything was said above. */
  readonly question?: string;
  /** The word that confirms, and other ways to write it. */
  readonly words: readonly [string, ...string[]];
  /** How it stays when another word was typed: "Shoot garden-dev/local is kept". */
  readonly otherwise: string;
}

/** Returns when one of the words was typed, and throws which one was wanted; without an interactive terminal, --yes has to be given. */
export async function confirm({ ask }: Pick<Terminal, "ask">, confirmation: Confirmation): Promise<void> {
  const { doing, question, words, otherwise } = confirmation;
  if (!ask) throw new CliError("usage", `${doing} has to be confirmed: add --yes`);
  const typed = await ask([question, `Type "${words[0]}" to confirm: `].filter(Boolean).join(" "));
  if (!words.includes(typed.trim()))
    throw new CliError("failed", `${otherwise}: "${typed}" was typed, "${words[0]}" would have confirmed it`);
}
