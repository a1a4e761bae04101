import { beforeEach, describe, expect } from "vitest";
import { createStateActivities, type StateActivities } from "../../src/activities/state/activities.ts";
import type { StateItem } from "../../src/activities/state/entry.ts";
import type { SnapshotRecord } from "../../src/activities/state/snapshot-record.ts";
import { createShootStates, type ShootStates } from "../../src/activities/state/shoot-state.ts";
import { ensureSecrets } from "../../src/activities/secrets/secrets.ts";
import { Infrastructure } from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { ConfigMap, refTo, Secret, type KubeClient } from "../../src/kube/index.ts";
import { test as it } from "../support/cluster-test.ts";
import { exampleContext } from "../support/control-plane-context.ts";
import { shootRun } from "../support/shoot-run.ts";
import { newKeyring, newStateKey } from "../support/state-keys.ts";

const garden = "garden-dev";
const keys = newKeyring({ own: [newStateKey("seed-1")], garden: [newStateKey("garden")] });
let kube: KubeClient;
let run: ShootRun;
/** The Shoot in the next seed, which restores it. */
let there: ShootRun;
let states: ShootStates;
let activities: StateActivities;
let count = 0;

it.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: garden } });
});
beforeEach(async () => {
  const name = `handed-over-${(count += 1)}`;
  run = shootRun({ name, technicalID: `shoot--dev--${name}`, uid: `uid-of-${name}` });
  there = { ...run, operation: "Restore", epoch: 2, technicalID: `${run.technicalID}-there` };
  for (const { technicalID } of [run, there])
    await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: technicalID } });
  states = createShootStates({ gardenClient: kube, keys });
  activities = createStateActivities({ gardenClient: kube, seedClient: kube, keys });
  await ensureSecrets(kube, exampleContext({ namespace: run.technicalID }));
});

const names = { apiVersion: "v1", kind: "Secret" } as const;
const infrastructure = async (refs: readonly object[] = []) => {
  const { technicalID: namespace, name } = run;
  const object = await kube.create<Infrastructure>({
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Infrastructure",
    metadata: { namespace, name },
    spec: { type: "local", region: "local", secretRef: { name: "cloudprovider", namespace } },
  });
  const resources = refs.map((resourceRef, index) => ({ name: `of-${index}`, resourceRef }));
  const status = { state: { vpc: "v-1" }, resources };
  return kube.patch(
    refTo(Infrastructure, { namespace, name: object.metadata.name }),
    { status },
    { subresource: "status" },
  );
};
/** What a seed that may write the ShootState puts into it, sealed as it should be. */
const smuggle = async (...items: readonly StateItem[]) => {
  await activities.persistState(run);
  await states.keepLast(run, () => Promise.resolve(items));
};
const secretItem = (name: string, more: object = {}, labels: Record<string, string> = {}): StateItem => ({
  section: "gardener",
  fields: { name, type: "secret", labels },
  content: { type: "Opaque", data: { key: "c2VjcmV0" }, ...more },
});
const resourceItem = (ref: { apiVersion: string; kind: string; name: string }, content: object): StateItem => ({
  section: "resources",
  fields: ref,
  content: { apiVersion: ref.apiVersion, kind: ref.kind, metadata: { name: ref.name }, ...content },
});
const deployment = { apiVersion: "apps/v1", kind: "Deployment", name: "node-exporter" };
const pods = {
  selector: { matchLabels: { a: "b" } },
  template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "x", image: "x" }] } },
};
const readThere = (ref: { apiVersion: string; kind: string; name: string }) =>
  kube.read({ ...ref, namespace: there.technicalID });

describe("a record of a snapshot that another seed wrote", () => {
  const snapshot: SnapshotRecord = {
    name: "etcd-backup-29000000-abcde.db",
    revision: 2,
    hash: 4711,
    size: 20_000,
    takenAt: "2026-11-21T10:00:00Z",
    bucket: "bucket",
  };
  const record = (more: object) => {
    const content = { ...snapshot, revision: 7, epoch: 1, ...more };
    const fields = { name: "etcd-main", type: "etcd-snapshot" };
    return states.keepLast(run, () => Promise.resolve([{ section: "gardener", fields, content }]));
  };

  it.each([
    ["a path as its name", { name: "../../other/entry/secrets.db" }, "name: is not the name of a pod, followed by .db"],
    ["a flag as its name", { name: "--config=x.db" }, "name: is not the name of a pod"],
    ["a name without an end", { name: `${"a".repeat(10_000)}.db` }, "name: is not the name of a pod"],
    ["a path as its bucket", { bucket: "../buckets" }, "bucket: is not the name of a BackupBucket"],
    ["a list as its bucket", { bucket: ["bucket"] }, "bucket: Invalid input: expected string"],
    ["a text as its revision", { revision: "7" }, "revision: Invalid input: expected number"],
    ["a time that is none", { takenAt: "tomorrow" }, "takenAt: Invalid ISO datetime"],
  ])("is refused by the worker that reads it for %s, with the reason and a remedy", async (_, more, why) => {
    await record(more);
    const problem: unknown = await states.latestSnapshot(run).catch((error: unknown) => error);
    expect(problem).toMatchObject({ retryable: false, message: expect.stringContaining(why) as string });
    expect(String(problem)).toContain(
      `cannot use the latest snapshot that ShootState ${run.namespace}/${run.name} names: `,
    );
    await states.recordSnapshot(run, snapshot);
    expect(await states.latestSnapshot(run)).toEqual(snapshot);
  });
});

describe("a seed that hands a Shoot over", () => {
  it("gets no object made that no extension refers to, of whatever kind", async () => {
    await smuggle(
      resourceItem(deployment, { spec: pods }),
      resourceItem({ ...names, name: "unwanted" }, { data: { key: "c2VjcmV0" } }),
    );
    const object = await infrastructure();
    await activities.restoreSecrets(there);
    await activities.restoreExtensionState(there, object);
    expect(await readThere(deployment)).toBeUndefined();
    expect(await readThere({ ...names, name: "unwanted" })).toBeUndefined();
  });

  it.each([
    ["another kind", deployment, { spec: pods }, "only Secrets and ConfigMaps can go along"],
    [
      "a right",
      { apiVersion: "rbac.authorization.k8s.io/v1", kind: "RoleBinding", name: "x" },
      { roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "perennial:resource-manager" } },
      "only Secrets and ConfigMaps can go along",
    ],
    ["the control plane's own", { ...names, name: "kube-apiserver" }, {}, "belongs to the control plane itself"],
    ["a resource manager's", { ...names, name: "managedresource-x" }, {}, "belongs to the control plane itself"],
    [
      "a service account's token",
      { ...names, name: "token" },
      { type: "kubernetes.io/service-account-token" },
      "it is of type kubernetes.io/service-account-token",
    ],
  ])("parks the Restore by an item that an extension refers to and that is %s", async (_, ref, content, why) => {
    await smuggle(resourceItem(ref, content), {
      section: "extensions",
      fields: { kind: "Infrastructure", name: run.name, resources: [{ name: "a", resourceRef: ref }] },
      content: {},
    });
    const object = { ...names, kind: "Infrastructure", metadata: { name: run.name, namespace: run.technicalID } };
    const restored = activities.restoreExtensionState(there, object);
    await expect(restored).rejects.toMatchObject({ retryable: false });
    await expect(restored).rejects.toThrow(
      `cannot restore ${ref.kind} ${ref.name} from ShootState ${garden}/${run.name}: `,
    );
    await expect(restored).rejects.toThrow(why);
    await expect(restored).rejects.toThrow("remove it from spec.resources");
    expect(await readThere(ref)).toBeUndefined();
  });

  it.each([
    ["is the control plane's own", secretItem("gardener"), "belongs to the control plane itself"],
    ["is of another type", secretItem("x", { type: "bootstrap.kubernetes.io/token" }), "it is of type bootstrap"],
  ])("parks the Restore by a Secret that %s, before anything is made", async (_, item, why) => {
    await smuggle(item);
    const restored = activities.restoreSecrets(there);
    await expect(restored).rejects.toMatchObject({ retryable: false });
    await expect(restored).rejects.toThrow(why);
    expect((await kube.list(Secret, { namespace: there.technicalID })).map(({ metadata }) => metadata.name)).toEqual(
      [],
    );
  });

  it("decides on no label, annotation, owner or finalizer by which others would act", async () => {
    const ref = { ...names, name: "state-of-x" };
    const metadata = {
      name: "kube-apiserver",
      labels: { "resources.gardener.cloud/purpose": "token-requestor" },
      annotations: { "serviceaccount.resources.gardener.cloud/name": "admin" },
      finalizers: ["example.org/never"],
    };
    const labels = { "gardener.cloud/purpose": "cloudprovider", name: "ca", "manager-identity": "gardenlet" };
    await smuggle(
      resourceItem(ref, { metadata, data: { key: "c2VjcmV0" } }),
      secretItem("ca-provider", {}, labels),
      secretItem("ca", (await readContent("ca")) ?? {}, labels),
      {
        section: "extensions",
        fields: { kind: "Infrastructure", name: run.name, resources: [{ name: "a", resourceRef: ref }] },
        content: {},
      },
    );
    await activities.restoreSecrets(there);
    await activities.restoreExtensionState(there, await infrastructure());
    const made = await readThere(ref);
    expect(made).toMatchObject({ data: { key: "c2VjcmV0" }, type: "Opaque" });
    for (const field of ["labels", "annotations", "finalizers"]) expect(made?.metadata).not.toHaveProperty(field);
    expect((await readThere({ ...names, name: "ca-provider" }))?.metadata.labels).toEqual({
      name: "ca",
      persist: "true",
    });
    expect((await readThere({ ...names, name: "ca" }))?.metadata.labels).toEqual({
      "managed-by": "perennial",
      role: "authority",
      persist: "true",
    });
  });
});

const readContent = async (name: string) => {
  const { data } = (await kube.read(refTo(Secret, { namespace: run.technicalID, name }))) ?? {};
  return { data };
};

describe("an extension", () => {
  it("takes Secrets and ConfigMaps along, and what upstream's secrets manager has made for it", async () => {
    const { technicalID: namespace } = run;
    const managed = {
      name: "ca-provider-x-controlplane",
      "managed-by": "secrets-manager",
      "manager-identity": "provider-x-controlplane",
      "checksum-of-config": "1",
      "last-rotation-initiation-time": "",
      "issued-at-time": "1",
      persist: "true",
    };
    const [issuer, config] = ["extension-shoot-cert-service-issuer-a", "state-of-x"];
    const applied = { "resources.gardener.cloud/managed-by": "gardener" };
    await kube.create({
      ...names,
      metadata: { namespace, name: issuer, labels: applied },
      data: { privateKey: "YQ==" },
    });
    await kube.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name: config }, data: { a: "b" } });
    const authority = "ca-provider-x-controlplane-1a2b3c4d";
    await kube.create({
      ...names,
      metadata: { namespace, name: authority, labels: managed },
      immutable: true,
      data: { "ca.crt": "YQ==" },
    });
    const object = await infrastructure([
      { ...names, name: issuer },
      { kind: "ConfigMap", apiVersion: "v1", name: config },
      { ...names, name: "not-there" },
    ]);
    await activities.checkState(run);
    await activities.persistState(run);
    await activities.restoreSecrets(there);
    expect(await activities.restoreExtensionState(there, object)).toMatchObject({ state: { vpc: "v-1" } });
    expect(await readThere({ ...names, name: issuer })).toMatchObject({ data: { privateKey: "YQ==" } });
    expect(await kube.read(refTo(ConfigMap, { namespace: there.technicalID, name: config }))).toMatchObject({
      data: { a: "b" },
    });
    const restored = await readThere({ ...names, name: authority });
    expect(restored).toMatchObject({ immutable: true, data: { "ca.crt": "YQ==" } });
    expect(restored?.metadata.labels).toEqual(managed);
  });

  it("that refers to more than a hundred objects stops the move before it begins, too", async () => {
    const refs = Array.from({ length: 101 }, (_, index) => ({ ...names, name: `of-extension-${index}` }));
    const { metadata } = await infrastructure(refs.slice(1));
    await activities.checkState(run);
    const resources = refs.map((resourceRef) => ({ name: resourceRef.name, resourceRef }));
    const ref = refTo(Infrastructure, { namespace: run.technicalID, name: metadata.name });
    await kube.patch(ref, { status: { resources } }, { subresource: "status" });
    for (const check of [activities.checkState, activities.persistState])
      await expect(check(run)).rejects.toThrow(
        `Infrastructure ${run.technicalID}/${run.name} refers in status.resources to 101 objects, which cannot go along with the Shoot: an extension's state may refer to 100;`,
      );
  });

  it.each([
    ["another kind", deployment, "only Secrets and ConfigMaps can go along"],
    ["the Shoot's authority", { ...names, name: "ca" }, "belongs to the control plane itself"],
    ["a control plane's Secret", { ...names, name: "gardener" }, "belongs to the control plane itself"],
    ["a service account's token", { ...names, name: "token" }, "it is of type kubernetes.io/service-account-token"],
  ])("that refers to %s stops the move before it begins, and the worker keeps nothing of it", async (_, ref, why) => {
    const { technicalID: namespace } = run;
    const annotations = { "kubernetes.io/service-account.name": "default" };
    await kube.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace, name: "default" } });
    const type = "kubernetes.io/service-account-token";
    await kube.create({ ...names, metadata: { namespace, name: "token", annotations }, type, data: {} });
    await kube.create({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { namespace, name: "node-exporter" },
      spec: pods,
    });
    await infrastructure([ref]);
    const read: string[] = [];
    const seedClient: KubeClient = {
      ...kube,
      read: (async (...args: Parameters<KubeClient["read"]>) => {
        read.push((args[0] as { kind: string }).kind);
        return kube.read(...args);
      }) as KubeClient["read"],
    };
    const watched = createStateActivities({ gardenClient: kube, seedClient, keys });
    for (const check of [() => watched.checkState(run), () => watched.persistState(run)]) {
      const checked = check(); // one after the other: a rejection that comes before it is awaited would fail the run
      await expect(checked).rejects.toMatchObject({ retryable: false });
      await expect(checked).rejects.toThrow(
        `Infrastructure ${namespace}/${run.name} refers in status.resources to ${ref.kind} ${ref.name}, which cannot go along with the Shoot: `,
      );
      await expect(checked).rejects.toThrow(why);
    }
    expect(read).not.toContain("Deployment");
    expect((await states.read(run)) ?? []).toEqual([]);
  });
});
