import { parseJson } from "../../parsing.ts";

/** What an etcd has said of itself. */
export interface EtcdReading {
  /** In bytes: its database, what of that is in use, and beyond which it takes no more writes. */
  readonly size: number;
  readonly inUse: number;
  readonly quota: number;
  /** The last revision that it has. */
  readonly revision: number;
  /** Alarms that it has raised, such as NOSPACE. */
  readonly alarms: readonly string[];
}

/** Reads what `etcdctl endpoint status --write-out=json` has printed, which comes parsed or as text; undefined where it is nothing of that. */
export function readStatus(log: unknown): EtcdReading | undefined {
  const parsed = typeof log === "string" ? parsedOr(log) : log;
  const [answer] = Array.isArray(parsed) ? (parsed as readonly Answer[]) : [];
  const { header, dbSize: size, dbSizeInUse: inUse, dbSizeQuota: quota, errors = [] } = answer?.Status ?? {};
  const revision = header?.revision;
  if (![size, inUse, quota, revision].every((one) => typeof one === "number")) return undefined;
  const alarms = errors.flatMap((text) => /alarm:(\w+)/.exec(text)?.[1] ?? []);
  return { size, inUse, quota, revision, alarms } as EtcdReading;
}

/** Whether most of a large database is free, or it is nearly full and some of it is: then it is worth while to defragment it. */
export function isFragmented({ size, inUse, quota }: EtcdReading): boolean {
  const free = size - inUse;
  return (size >= LARGE && free >= size / 2) || (size >= NEARLY_FULL * quota && free >= size / 10);
}

/** The share of its quota from which on a database is nearly full. */
export const NEARLY_FULL = 0.8;

/** In bytes. */
const LARGE = 100 * 1024 ** 2;

/** As etcdctl prints it, as far as it is read here. */
interface Answer {
  readonly Status?: {
    readonly header?: { readonly revision?: number };
    readonly dbSize?: number;
    readonly dbSizeInUse?: number;
    readonly dbSizeQuota?: number;
    readonly errors?: readonly string[];
  };
}

function parsedOr(text: string): unknown {
  try {
    return parseJson(text, "the status of an etcd");
  } catch {
    return undefined;
  }
}
