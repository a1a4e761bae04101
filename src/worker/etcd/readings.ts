import { NEARLY_FULL, type EtcdReading } from "../../activities/etcd/reading.ts";
import { both } from "../../activities/shoot/health.ts";
import type { Readiness } from "../../activities/waits/readiness.ts";
import { ETCDS, type EtcdRole } from "../../components/index.ts";

/** The last that each etcd of a seed has said of itself; a worker that starts again reads it in the Jobs that are kept. */
export interface EtcdReadings {
  /** `at`: RFC 3339, when its Job was made. */
  note(namespace: string, role: EtcdRole, reading: EtcdReading, at: string): void;
  /** Whether the etcds of a namespace have room and no alarms, as far as is known. */
  readiness(namespace: string): Readiness;
  forget(namespace: string): void;
}

/** Remembers what was read. */
export function createEtcdReadings(): EtcdReadings {
  const known = new Map<string, { readonly reading: EtcdReading; readonly at: string }>();
  return {
    note(namespace, role, reading, at) {
      const key = `${namespace}/${role}`;
      if (at >= (known.get(key)?.at ?? "")) known.set(key, { reading, at });
    },
    readiness: (namespace) =>
      ETCDS.map((role) => judge(role, known.get(`${namespace}/${role}`)?.reading)).reduce(both, { reached: true }),
    forget(namespace) {
      for (const role of ETCDS) known.delete(`${namespace}/${role}`);
    },
  };
}

function judge(role: EtcdRole, reading: EtcdReading | undefined): Readiness {
  const name = `etcd-${role}`;
  if (reading === undefined) return { reached: true };
  const { inUse, quota, alarms } = reading;
  if (alarms.includes("CORRUPT"))
    return {
      ...{ reached: false, reason: "EtcdCorrupt" },
      message: `${name} has raised alarm CORRUPT and rejects writes: have its data replaced, see runbook etcd-data-damaged`,
    };
  const used = `${mebibytes(inUse)} of ${mebibytes(quota)} MiB are in use`;
  if (alarms.includes("NOSPACE"))
    return {
      ...{ reached: false, reason: "EtcdOutOfSpace" },
      message: `${name} has raised alarm NOSPACE and rejects writes (${used}): old revisions are removed automatically; if that is not enough, delete objects, see runbook etcd-full`,
    };
  if (inUse < NEARLY_FULL * quota) return { reached: true };
  return {
    ...{ reached: false, reason: "EtcdNearlyFull" },
    message: `The database of ${name} is nearly full (${used}): delete what fills it, see runbook etcd-full`,
  };
}

const mebibytes = (bytes: number): number => Math.round(bytes / 1024 ** 2);
