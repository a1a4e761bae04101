import { expect, test } from "vitest";
import type { KubeClient, ObjectRef } from "../../../src/kube/index.ts";
import { etcdReadiness } from "../../../src/worker/etcd/health.ts";

/** What is in an etcd's log before its last words. */
const before = `{"level":"info","msg":"opening the database"}\n`;
const damage = `${before}panic: assertion failed: Page expected to be: 4, but self identifies as 10`;
const full = `${before}write /var/etcd/data/new.etcd/member/snap/db: no space left on device`;

/** Sets of etcds as a watch has them, and what is in the seed besides: how the etcds of a Shoot are said to be. */
function readiness(sets: object[], { log = "", hasBackup = true, mark }: Seen = {}) {
  const pod = {
    metadata: { name: "etcd-0" },
    status: { containerStatuses: [{ name: "etcd", ready: false, restartCount: 3, ...crashed }] },
  };
  const objects: Readonly<Record<string, object | undefined>> = {
    CronJob: hasBackup ? {} : undefined,
    PersistentVolumeClaim: {
      metadata: { annotations: mark === undefined ? {} : { "perennial.dev/etcd-damaged": mark } },
    },
  };
  const seedClient = {
    read: async ({ kind }: ObjectRef) => objects[kind],
    list: async () => [pod],
    get: async () => log,
  } as unknown as KubeClient;
  const seed = { list: (async () => sets) as unknown as KubeClient["list"] };
  const readings = { readiness: () => ({ reached: true }) as const };
  return etcdReadiness({ seed, seedClient, readings }, "shoot--dev--a");
}

interface Seen {
  readonly log?: string;
  readonly hasBackup?: boolean;
  readonly mark?: string;
}

const crashed = { state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: { terminated: { exitCode: 2 } } };
const set = (role: string, { replicas = 1, readyReplicas = 1, annotations = {} } = {}) => ({
  metadata: { name: `etcd-${role}`, generation: 1, annotations },
  spec: { replicas },
  status: { observedGeneration: 1, replicas, updatedReplicas: replicas, readyReplicas },
});
const unready = (role: string) => set(role, { readyReplicas: 0 });

test("etcds that are ready are well, whatever their pods' last logs say, and tell what their data were replaced by", async () => {
  const annotations = { "perennial.dev/etcd-replaced": "etcd-main was restored" };
  expect(await readiness([set("main"), set("events")], { log: damage })).toEqual({ reached: true });
  expect(await readiness([set("main", { annotations })])).toEqual({ reached: true, note: "etcd-main was restored." });
});

test.each([
  ["EtcdDataDamaged", "main", { log: damage }],
  ["EtcdDataLost", "main", { log: damage, hasBackup: false }],
  ["EtcdDataDamaged", "events", { log: damage, hasBackup: false }],
  ["EtcdVolumeFull", "main", { log: full }],
])("an etcd that does not start is told by reason %s: etcd-%s, %o", async (reason, role, seen) => {
  expect(await readiness([unready(role)], seen)).toMatchObject({ reached: false, reason });
});

test("damage that an operation mends is the reason beside what it does not", async () => {
  const seen = { log: damage, hasBackup: false };
  expect(await readiness([unready("main"), unready("events")], seen)).toMatchObject({ reason: "EtcdDataDamaged" });
});

test("an etcd that was stopped with its data marked is still damaged: its operation has not come to its end", async () => {
  const stopped = set("main", { replicas: 0, readyReplicas: 0 });
  expect(await readiness([stopped], { mark: "by hand" })).toMatchObject({ reason: "EtcdDataDamaged" });
});
