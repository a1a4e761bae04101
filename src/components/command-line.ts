/** Values of flags by name, without dashes; `undefined` and empty lists are left out. */
export type Flags = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** A container's command with its flags as `--name=value`, lists joined by commas, in the order given. */
export function commandLine(binary: string, flags: Flags): string[] {
  return [binary, ...Object.entries(flags).flatMap(([name, value]) => flag(name, value))];
}

/** The command line of a tool of etcd's with what it is to do: it takes flags anywhere, and words read better right behind its name. */
export const subcommand = ([program = "", ...flags]: readonly string[], ...words: readonly string[]): string[] => [
  program,
  ...words,
  ...flags,
];

/** A user's text for a container's command: Kubernetes puts nothing in the place of `$(NAME)` in it. */
export function literal(text: string): string {
  return text.replaceAll("$", "$$$$");
}

/** A command as a line of a systemd unit: each word is quoted where it has to be, and nothing in it is expanded. */
export function unitCommand(binary: string, flags: Flags): string {
  return unitWords(commandLine(binary, flags));
}

/** As {@link unitCommand}, for words that are no flags by name. */
export function unitWords(words: readonly string[]): string {
  return words.map(unitWord).join(" \\\n    ");
}

/** Feature gates in the form of the flag of that name. */
export function featureGates(gates: Readonly<Record<string, boolean>> | undefined): string[] {
  return Object.entries(gates ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, enabled]) => `${name}=${enabled}`);
}

/** As systemd reads it (systemd.service, "Command lines"); `%` and `$` stand for themselves only when they are doubled. */
function unitWord(word: string): string {
  const escaped = literal(word).replaceAll("%", "%%");
  if (/^[-\w./:=,@+%$]+$/.test(escaped)) return escaped;
  const quoted = escaped
    .replace(/["\\]/g, "\\$&")
    .replaceAll("\n", "\\n")
    .replaceAll("\t", "\\t")
    .replaceAll("\r", "\\r");
  if (/[\x00-\x1f\x7f]/.test(quoted))
    throw new Error(`cannot write ${JSON.stringify(word)} into a unit: it has a control character`);
  return `"${quoted}"`;
}

function flag(name: string, value: Flags[string]): string[] {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return [];
  return [`--${name}=${Array.isArray(value) ? value.join(",") : String(value)}`];
}
