import { ADMIN_KUBECONFIG } from "../api/names.ts";

/** A command line as it is pasted into a shell, of words without secrets; those that say nothing are left out. */
export function commandLine(...words: readonly (string | undefined | readonly string[])[]): string {
  return words
    .flat()
    .filter((word) => word !== undefined)
    .map(shellWord)
    .join(" ");
}

/** An option with its value; nothing where it has none. */
export const option = (name: string, value: string | undefined): readonly string[] =>
  value === undefined ? [] : [name, value];

const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** What commands end with that leave an administrator's kubeconfig on the machine. */
export const NEXT_AS_ADMINISTRATOR = `Next: export KUBECONFIG=${ADMIN_KUBECONFIG}; kubectl get nodes`;
