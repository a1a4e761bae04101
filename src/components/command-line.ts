/** Values of flags by name, without dashes; `undefined` and empty lists are left out. */
export type Flags = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** A command with its flags as `--name=value`, lists joined by commas, in the order given. */
export function commandLine(binary: string, flags: Flags): string[] {
  return [binary, ...Object.entries(flags).flatMap(([name, value]) => flag(name, value))];
}

/** Feature gates in the form of the flag of that name. */
export function featureGates(gates: Readonly<Record<string, boolean>> | undefined): string[] {
  return Object.entries(gates ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, enabled]) => `${name}=${enabled}`);
}

function flag(name: string, value: Flags[string]): string[] {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return [];
  return [`--${name}=${Array.isArray(value) ? value.join(",") : String(value)}`];
}
