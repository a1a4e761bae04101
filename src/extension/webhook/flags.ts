import type { Container } from "./objects.ts";

/** The container with `--name=value` on its command line, in the place of the flag as it was, or at the end. */
export function withFlag(container: Container, name: string, value: string): Container {
  return withCommand(container, (command) => {
    const flag = `--${name}=${value}`;
    const known = command.some((word) => isFlag(word, name));
    return known ? command.map((word) => (isFlag(word, name) ? flag : word)) : [...command, flag];
  });
}

/** The container without this flag. */
export const withoutFlag = (container: Container, name: string): Container =>
  withCommand(container, (command) => command.filter((word) => !isFlag(word, name)));

/** The value of a flag on the container's command line. */
export function flagOf({ command = [] }: Container, name: string): string | undefined {
  const word = command.find((one) => isFlag(one, name));
  return word?.slice(`--${name}=`.length);
}

/** The container with a word more in a flag that takes a list, such as `enable-admission-plugins`; a word is there once. */
export function withListed(container: Container, name: string, word: string): Container {
  const words = (flagOf(container, name) ?? "").split(",").filter((one) => one !== "");
  return words.includes(word) ? container : withFlag(container, name, [...words, word].join(","));
}

/** The container without a word in a flag that takes a list; a list that is empty then goes. */
export function withoutListed(container: Container, name: string, word: string): Container {
  const given = flagOf(container, name);
  if (given === undefined) return container;
  const words = given.split(",").filter((one) => one !== word && one !== "");
  return words.length === 0 ? withoutFlag(container, name) : withFlag(container, name, words.join(","));
}

const withCommand = (container: Container, change: (command: readonly string[]) => readonly string[]): Container => ({
  ...container,
  command: change(container.command ?? []),
});

const isFlag = (word: string, name: string): boolean => word === `--${name}` || word.startsWith(`--${name}=`);
