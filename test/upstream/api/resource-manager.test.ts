import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { healthy } from "../../../src/activities/managed-resources/health.ts";
import { createManagedResources } from "../../../src/activities/managed-resources/managed-resources.ts";
import { deploySeedResourceManager } from "../../../src/activities/managed-resources/seed-resource-manager.ts";
import { fenced } from "../../../src/activities/leadership/fenced-client.ts";
import { findManagedResources } from "../../../src/activities/teardown/pod-makers.ts";
import { ManagedResource, type KubeObject } from "../../../src/api/index.ts";
import { components } from "../../../src/components/index.ts";
import {
  ConfigMap,
  Deployment,
  refOf,
  refTo,
  Secret,
  type KubeClient,
  type ObjectRef,
} from "../../../src/kube/index.ts";
import { applyUpstreamCrds } from "../../../src/local/cluster/manifests.ts";
import { readManifest } from "../../../src/manifests.ts";
import { exampleContext } from "../../support/control-plane-context.ts";
import { startControlPlane, type ControlPlane } from "../../support/control-plane.ts";
import type { Child } from "../../support/child.ts";
import { eventually } from "../../support/eventually.ts";
import { startResourceManager } from "../../support/resource-manager.ts";
import { shootRun } from "../../support/shoot-run.ts";

/** Upstream's resource manager as it is published, with the configuration that we deploy, on real API servers. */
const run = shootRun({ technicalID: "shoot--dev--managed", epoch: 1 });
const namespace = run.technicalID;
let directory: string;
let seed: ControlPlane;
let shoot: ControlPlane;
const managers: Child[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "perennial-upstream-"));
  [seed, shoot] = await Promise.all([startControlPlane(), startControlPlane()]);
  await applyUpstreamCrds(seed.client);
  for (const object of await readManifest("options/resource-manager/rbac.yaml")) await seed.client.apply(object);
  await seed.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await deploySeedResourceManager(seed.client);
  const config = await seed.client.read(ConfigMap, { namespace: "garden", name: "gardener-resource-manager" });
  managers.push(await startManager("seed", config));
  const ofShoot = components["resource-manager"].objects(exampleContext({ namespace }));
  managers.push(
    await startManager(
      "shoot",
      ofShoot.find(({ kind }) => kind === "ConfigMap"),
    ),
  );
});

afterAll(async () => {
  await Promise.all(managers.map((manager) => manager.kill()));
  await Promise.all([seed, shoot].map((cluster) => cluster.stop()));
  await rm(directory, { recursive: true });
});

test("what a ManagedResource of class seed says is applied in the seed, healthy, pruned, and goes with it", async () => {
  const ref = await manage("garden", { "a.yaml": configMap("one"), "b.yaml": configMap("two") }, "seed");
  await untilHealthy(ref);
  expect(await namesIn(seed.client, "default")).toEqual(["one", "two"]);
  await manage("garden", { "a.yaml": configMap("one") }, "seed");
  await eventually(async () => expect(await namesIn(seed.client, "default")).toEqual(["one"]));
  await seed.client.remove(ref);
  await eventually(async () => expect(await seed.client.read(ref)).toBeUndefined());
  expect(await namesIn(seed.client, "default")).toEqual([]);
});

test("what a ManagedResource in a Shoot's namespace says is applied in the Shoot", async () => {
  const ref = await manage(namespace, { "a.yaml": configMap("inside") });
  await untilHealthy(ref);
  expect(await namesIn(shoot.client, "default")).toContain("inside");
  expect(await namesIn(seed.client, "default")).not.toContain("inside");
  const [object] = (await shoot.client.list(ConfigMap, { namespace: "default" })).filter(isOurs);
  expect(object?.metadata.labels).toMatchObject({ "resources.gardener.cloud/managed-by": "gardener" });
});

test("what cannot be applied is an error, what does not roll out is not healthy", async () => {
  const broken = await manage(
    namespace,
    { "a.yaml": stringify({ apiVersion: "v1", kind: "Nonsense", metadata: { name: "x" } }) },
    undefined,
    "broken",
  );
  await eventually(async () => {
    const judged = healthy(await found(broken));
    expect(judged).toMatchObject({ reached: false, error: {} });
  });
  const late = await manage(namespace, { "a.yaml": stringify(deployment) }, "seed", "late");
  await eventually(async () =>
    expect(healthy(await found(late))).toMatchObject({ message: expect.stringMatching(/^ResourcesHealthy is False/) }),
  );
});

test("a stopped ManagedResource brings nothing back until a flow takes that back", async () => {
  const ref = await manage(namespace, { "a.yaml": stringify(deployment) }, "seed", "late");
  const workload = refTo(Deployment, { namespace, name: deployment.metadata.name });
  const replicas = async () => (await seed.client.read(workload))?.spec.replicas;
  await eventually(async () => expect(await replicas()).toBe(1));
  for (const { object, change } of await findManagedResources(seed.client, namespace))
    await seed.client.patch(refOf(object), change);
  await seed.client.patch(workload, { spec: { replicas: 0 } });
  await manage(
    namespace,
    { "a.yaml": stringify({ ...deployment, metadata: { ...deployment.metadata, labels: { again: "1" } } }) },
    "seed",
    "late",
  );
  await eventually(async () =>
    expect((await found(ref)).status?.conditions).toContainEqual(
      expect.objectContaining({ reason: "ManagedResourceIgnored" }),
    ),
  );
  expect(await replicas()).toBe(0);
  await managed().release(run);
  await eventually(async () => expect(await replicas()).toBe(1));
});

const managed = () => {
  const waits = { group: () => ({ registration: () => ({}) }) } as unknown as Parameters<
    typeof createManagedResources
  >[0]["waits"];
  return createManagedResources({ seedClient: fenced(seed.client, run), waits });
};

const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "cloud-controller-manager", namespace },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: "ccm" } },
    template: {
      metadata: { labels: { app: "ccm" } },
      spec: { containers: [{ name: "ccm", image: "example.com/ccm:1" }] },
    },
  },
};

const configMap = (name: string) =>
  stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" }, data: { a: "b" } });

/** Writes a ManagedResource and its Secret, as extensions do. */
async function manage(namespace: string, files: Record<string, string>, ofClass?: string, name = "example") {
  const data = Object.fromEntries(
    Object.entries(files).map(([file, text]) => [file, Buffer.from(text).toString("base64")]),
  );
  await seed.client.apply({ apiVersion: "v1", kind: "Secret", metadata: { name, namespace }, data });
  const spec = { secretRefs: [{ name }], ...(ofClass === undefined ? {} : { class: ofClass }) };
  await seed.client.apply({
    ...{ apiVersion: ManagedResource.apiVersion, kind: "ManagedResource" },
    metadata: { name, namespace },
    spec,
  });
  return refTo(ManagedResource, { namespace, name });
}

async function found(ref: ObjectRef<ManagedResource>): Promise<ManagedResource> {
  return (await seed.client.read(ref)) ?? expect.fail(`${ref.name} is gone`);
}

const untilHealthy = (ref: ObjectRef<ManagedResource>) =>
  eventually(async () => expect(healthy(await found(ref))).toEqual({ reached: true }));

const isOurs = ({ metadata }: KubeObject) => metadata.name !== "kube-root-ca.crt";

const namesIn = async (client: KubeClient, namespace: string) =>
  (await client.list(ConfigMap, { namespace }))
    .filter(isOurs)
    .map(({ metadata }) => metadata.name)
    .sort();

async function startManager(name: "seed" | "shoot", configMap: KubeObject | undefined): Promise<Child> {
  const secret = await seed.client.read(Secret, { namespace: "garden", name: "gardener-resource-manager-server" });
  return await startResourceManager(join(directory, name), configMap, {
    source: seed.kubeconfigFile,
    target: { seed, shoot }[name].kubeconfigFile,
    server: secret?.data ?? {},
  });
}
