import { expect } from "vitest";
import type { KubeObject } from "../../src/api/index.ts";
import {
  clusterInfo,
  clusterObject,
  components,
  controlPlaneObject,
  networkObject,
  operatingSystemConfigs,
  poolsOf,
  resourceManagerOnNodes,
} from "../../src/components/index.ts";
import { applyingChanges } from "../../src/kube/applying-changes.ts";
import { KubeError, refOf, type KubeClient } from "../../src/kube/index.ts";
import { readManifest, readManifests } from "../../src/manifests.ts";
import { historyOf, type WriteStep } from "../support/apply-histories.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import { selfHostedContext } from "../support/self-hosted-control-plane.ts";

/** The client, and what it has been told to apply, dry runs apart. */
function noting(client: KubeClient): { readonly client: KubeClient; readonly applied: string[] } {
  const applied: string[] = [];
  return {
    applied,
    client: {
      ...client,
      async apply(object, o) {
        if (o?.dryRun !== true) applied.push(`${object.kind} ${object.metadata.name}`);
        return await client.apply(object, o);
      },
    },
  };
}

const APPLIED = [
  ...(["gardener-access", "node-bootstrap", "kube-proxy", "coredns"] as const),
  ...(["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const),
] as const;

test("what gardenadm applies is not applied a second time", async ({ cluster }) => {
  const context = selfHostedContext();
  const objects = [
    ...(await readManifests("crds")),
    ...(await readManifests("seed/crds")),
    ...(await readManifest("seed/priority-classes.yaml")),
    clusterObject(context),
    ...clusterInfo(context),
    ...APPLIED.flatMap((name) => components[name].objects(context)),
    ...resourceManagerOnNodes(context, "pods"),
    networkObject(context),
    controlPlaneObject(context),
    ...poolsOf(context).flatMap((pool) => operatingSystemConfigs(context, pool)),
  ];
  const { client, applied } = noting(cluster.client);
  for (const object of objects) await applyingChanges(client).apply(object);
  expect(applied.length).toBeGreaterThan(objects.length / 2);
  applied.length = 0;
  for (const object of objects) await applyingChanges(client).apply(object);
  expect(applied).toEqual([]);
});

const SEEDS = Array.from({ length: 120 }, (_, index) => index);

test("whatever others have written: an apply that is spared would have changed nothing, and one that is made changes something", async ({
  cluster,
}) => {
  const { client, applied } = noting(cluster.client);
  const look = async (object: KubeObject) => content(await cluster.client.read(refOf(object)));
  const counts = { made: 0, spared: 0 };
  const applyOurs = async (object: KubeObject, story: string) => {
    const before = await look(object);
    applied.length = 0;
    if ((await unlessRefused(applyingChanges(client).apply(object))) === undefined) return;
    const isSpared = applied.length === 0;
    if (isSpared) await cluster.client.apply(object);
    if (isSpared) expect(await look(object), story).toEqual(before);
    else expect(await look(object), story).not.toEqual(before);
    counts[isSpared ? "spared" : "made"]++;
  };
  for (const seed of SEEDS) {
    const history = historyOf(seed, `history-${seed}`);
    for (const [index, { by, object }] of history.entries()) {
      if (by !== "us") {
        await unlessRefused(writeAsAnother(cluster.client, { by, object }));
        continue;
      }
      const story = JSON.stringify({ seed, steps: history.slice(0, index + 1) });
      await applyOurs(object, story);
      await applyOurs(object, story);
    }
  }
  expect(counts.made).toBeGreaterThan(SEEDS.length);
  expect(counts.spared).toBeGreaterThan(SEEDS.length);
});

test("another order of the same items is applied, and so is what another has where we had nothing", async ({
  cluster,
}) => {
  const { client, applied } = noting(cluster.client);
  const service = (ports: readonly object[]) => ({
    ...{ apiVersion: "v1", kind: "Service", metadata: { namespace: "default", name: "orders" } },
    spec: { ports },
  });
  const [one, other] = [
    { port: 80, name: "one" },
    { port: 81, name: "other" },
  ];
  const map = (annotations: Record<string, string>) => ({
    ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name: "emptied", annotations } },
  });
  await applyingChanges(client).apply(service([one, other]));
  await writeAsAnother(client, { by: "another's apply", object: map({ a: "b" }) });
  await applyingChanges(client).apply(map({}));
  applied.length = 0;
  await applyingChanges(client).apply(service([other, one]));
  await applyingChanges(client).apply(map({ a: "b" }));
  expect(applied).toEqual(["Service orders", "ConfigMap emptied"]);
});

test("what cannot be tried is applied", async ({ cluster }) => {
  const { client, applied } = noting(cluster.client);
  const [workload] = components.coredns.objects(selfHostedContext()).filter(({ kind }) => kind === "Deployment");
  if (workload === undefined) throw new Error("coredns has no Deployment");
  await cluster.client.apply(workload);
  const untried: KubeClient = {
    ...client,
    apply: async (object, o) =>
      o?.dryRun === true
        ? await Promise.reject(new Error("admission webhook does not support dry run"))
        : await client.apply(object, o),
  };
  await applyingChanges(untried).apply(workload);
  expect(applied).toEqual(["Deployment coredns"]);
});

async function unlessRefused<T>(call: Promise<T>): Promise<T | undefined> {
  return await call.catch((error: unknown) => {
    if (error instanceof KubeError) return undefined;
    throw error;
  });
}

async function writeAsAnother(client: KubeClient, { by, object }: WriteStep): Promise<unknown> {
  if (by === "another's apply") return await client.apply(object, { fieldManager: "another" });
  const { apiVersion: _, kind: __, ...changes } = object;
  return await client.patch(refOf(object), changes, { fieldManager: "editor" });
}

/** Without the version, and the times at which writers wrote, which order their entries. */
function content(object: KubeObject | undefined): unknown {
  const { managedFields = [], resourceVersion: _, ...metadata } = object?.metadata ?? {};
  const entries = managedFields.map(({ time: _, ...entry }) => JSON.stringify(entry)).sort();
  return { ...object, metadata: { ...metadata, entries } };
}
