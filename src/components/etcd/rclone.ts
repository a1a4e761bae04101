import type { ObjectStore } from "../../api/object-stores.ts";
import { commandLine, type Flags } from "../command-line.ts";

/** A bucket as rclone knows it: a remote of that name, whose Secret also names the bucket. */
export interface Remote {
  readonly name: "store" | "source";
  readonly store: ObjectStore;
  /** Name of the Secret in the Shoot's namespace. */
  readonly secret: string;
}

/**
 * A remote's configuration, which rclone reads from its environment: nothing of it is ever in a file or on a command
 * line. Options that are made from others come behind them, because the kubelet fills in only what it has read before.
 */
export function environmentOf({ name, store, secret }: Remote): Variable[] {
  const variable = (option: string) => `RCLONE_CONFIG_${name}_${option}`.toUpperCase();
  const value = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, option: string) => `$(${variable(option)})`);
  const from = (key: string, optional: { optional?: true } = {}) => ({
    valueFrom: { secretKeyRef: { name: secret, key, ...optional } },
  });
  return [
    { name: bucketVariable(name), ...from(BUCKET_KEY) },
    { name: variable("type"), value: store.type },
    ...Object.entries(store.keys).map(([option, key]) => ({ name: variable(option), ...from(key) })),
    ...Object.entries(store.optionalKeys ?? {}).map(([option, key]) => ({
      name: variable(option),
      ...from(key, { optional: true }),
    })),
    ...Object.entries(store.options).map(([option, text]) => ({ name: variable(option), value: value(text) })),
  ];
}

/** A variable of a container, as far as they are made here. */
interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef: { readonly name: string; readonly key: string; readonly optional?: true };
  };
}

/** The same variables for a process beside no kubelet, with their values out of the Secret's content. */
export function filledEnvironment(
  store: ObjectStore,
  secret: Readonly<Record<string, string>>,
): Record<string, string> {
  const filled: Record<string, string> = {};
  for (const { name, value, valueFrom } of environmentOf({ name: "store", store, secret: "" })) {
    const given = valueFrom && secret[valueFrom.secretKeyRef.key];
    const text = given ?? value?.replaceAll(/\$\((\w+)\)/g, (all, other: string) => filled[other] ?? all);
    if (text !== undefined) filled[name] = text;
  }
  return filled;
}

/** The keys without which a store's Secret is of no use. */
export const storeSecretKeys = ({ keys }: ObjectStore): readonly string[] => [BUCKET_KEY, ...Object.values(keys)];

/** The key of a store's Secret that names the bucket. */
export const BUCKET_KEY = "bucketName";

/** A place in the remote's bucket; the kubelet fills in the bucket's name. */
export const pathIn = ({ name }: Remote, ...path: readonly string[]): string =>
  [`${name}:$(${bucketVariable(name)})`, ...path].join("/");

/** A call of rclone that looks for no configuration file. */
export function rclone(words: readonly string[], flags: Flags = {}): string[] {
  const [program = "", ...rest] = commandLine("rclone", { config: "", ...flags });
  return [program, ...words, ...rest];
}

const bucketVariable = (name: Remote["name"]): string => `${name.toUpperCase()}_BUCKET`;
