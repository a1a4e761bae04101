import { expect, test } from "vitest";
import type { KubeObject } from "../../../src/api/index.ts";
import { createLogger } from "../../../src/log.ts";
import type { Job, KubeClient, ObjectRef } from "../../../src/kube/index.ts";
import { components } from "../../../src/components/index.ts";
import { createEtcdCheck } from "../../../src/worker/etcd/checks.ts";
import { createEtcdReadings } from "../../../src/worker/etcd/readings.ts";
import { exampleContext } from "../../support/control-plane-context.ts";

const { namespace } = exampleContext();
const log = createLogger({ name: "test", level: "silent" });
const shoot = { metadata: { namespace: "garden-dev", name: "a", uid: "1" }, status: { seedName: "seed-1" } };
const ended = { status: { conditions: [{ type: "Complete", status: "True" }] } };
const checked = { metadata: { namespace, name: "etcd-check-1", uid: "2" }, ...ended };

/** What an etcd of which most is free prints. */
const fragmented = status({ dbSize: 200 * 2 ** 20, dbSizeInUse: 2 ** 20 });

function status(numbers: object, errors: readonly string[] = []): string {
  const Status = { header: { revision: 7 }, dbSize: 9, dbSizeInUse: 9, dbSizeQuota: 8 * 2 ** 30, errors, ...numbers };
  return JSON.stringify([{ Status }]);
}

/** A seed's worker that sees these Jobs, and what etcd-main has printed; and the Jobs that it has made. */
function worker(
  printed: string,
  jobs: readonly object[] = [],
  there: Readonly<Record<string, object | undefined>> = {},
) {
  const [made, asked]: [KubeObject[], string[]] = [[], []];
  const objects: typeof there = {
    [`Namespace/${namespace}`]: { metadata: { name: namespace } },
    [`Cluster/${namespace}`]: { spec: { shoot } },
    "Shoot/a": shoot,
    "Job/etcd-check-1": checked,
    "CronJob/etcd-main-defrag": components.etcd
      .objects(exampleContext())
      .find(({ kind, metadata }) => kind === "CronJob" && metadata.name === "etcd-main-defrag"),
    ...there,
  };
  const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "etcd-main" }] } };
  const client = {
    async read({ kind, name = "" }: ObjectRef, key: { name: string } = { name }) {
      asked.push(`read ${kind}`);
      return objects[`${kind}/${key.name}`];
    },
    async list({ kind }: ObjectRef) {
      asked.push(`list ${kind}`);
      return kind === "Pod" ? [pod] : jobs;
    },
    async get() {
      asked.push("get log");
      return printed;
    },
    create: async (object: KubeObject) => void made.push(object),
  } as unknown as KubeClient;
  const readings = createEtcdReadings();
  const jobOf = ({ name }: { readonly name: string }) => objects[`Job/${name}`] as Job | undefined;
  const check = createEtcdCheck({ gardenClient: client, seedClient: client, seedName: "seed-1", readings, jobOf, log });
  const look = () => check.reconcile({ namespace, name: "etcd-check-1" });
  return { made, asked, readings, objects, look };
}

test("an etcd of which most is free is defragmented, under the epoch of its Shoot's leader", async () => {
  const { made, look } = worker(fragmented, [checked]);
  await look();
  expect(made).toMatchObject([{ metadata: { name: "etcd-main-defrag", annotations: { "perennial.dev/epoch": "1" } } }]);
});

test("an etcd that is well costs a request for the pod and one for its log", async () => {
  const { asked, look } = worker(status({}));
  await look();
  expect(asked).toEqual(["list Pod", "get log"]);
});

test("no etcd is defragmented while a snapshot is taken, or another etcd is", async () => {
  const { made, look } = worker(fragmented, [checked, { metadata: { name: "etcd-backup-1" }, status: {} }]);
  await look();
  expect(made).toEqual([]);
});

test.each([
  ["is corrupt", ["memberID:1 alarm:CORRUPT"], "EtcdCorrupt"],
  ["is corrupt and full", ["memberID:1 alarm:NOSPACE", "memberID:1 alarm:CORRUPT"], "EtcdCorrupt"],
  ["is full", ["memberID:1 alarm:NOSPACE"], "EtcdOutOfSpace"],
])("an etcd that says it %s makes the control plane unhealthy", async (_, alarms, reason) => {
  const { readings, look } = worker(status({}, alarms));
  await look();
  expect(readings.readiness(namespace)).toMatchObject({ reached: false, reason });
});

test("what an etcd has said is forgotten with its namespace, whose name a later Shoot may have", async () => {
  const { readings, objects, look } = worker(status({}, ["memberID:1 alarm:CORRUPT"]));
  await look();
  const gone = objects as Record<string, unknown>;
  delete gone["Job/etcd-check-1"];
  await look();
  expect(readings.readiness(namespace).reached).toBe(false);
  gone[`Namespace/${namespace}`] = { metadata: { name: namespace, deletionTimestamp: "2026-01-01T00:00:00Z" } };
  await look();
  expect(readings.readiness(namespace)).toEqual({ reached: true });
});
