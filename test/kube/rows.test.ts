import { describe, expect } from "vitest";
import { createSeedActivities } from "../../src/activities/seed.ts";
import { judge } from "../../src/activities/waits/judgement.ts";
import type { SeedActivities, WaitTarget } from "../../src/activities/index.ts";
import { createShootClients } from "../../src/activities/shoot/clients.ts";
import {
  ControlPlane,
  DNSRecord,
  ExtensionBackupBucket,
  ExtensionBackupEntry,
  Infrastructure,
  Network,
  Seed,
  Worker,
  type Shoot,
} from "../../src/api/index.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { CLUSTER_AUTOSCALER, workerObject } from "../../src/components/index.ts";
import { planFlow } from "../../src/flow/plan.ts";
import { Deployment, refTo, Secret, Service, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { deleteShoot } from "../../src/workflows/delete.ts";
import { reconcile } from "../../src/workflows/reconcile.ts";
import { test } from "../support/cluster-test.ts";
import type { ControlPlane as ApiServer } from "../support/control-plane.ts";
import { exampleObjects } from "../support/examples.ts";
import { exampleContext } from "../support/control-plane-context.ts";
import { before } from "../support/flow-tables.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { notedWaits } from "../support/noted-waits.ts";
import { act } from "../support/reconciled-shoot.ts";
import { newKeyring } from "../support/state-keys.ts";

// What rows of flows do in a seed, by the table itself and the activities that it names.

let cluster: ApiServer;
let kube: KubeClient;
let activities: SeedActivities;
let count = 0;

test.beforeAll(async ({ cluster: started }) => {
  cluster = started;
  kube = cluster.client;
  await applyGarden(kube);
  const log = createLogger({ name: "test", level: "silent" });
  activities = createSeedActivities({
    ...{ gardenClient: kube, seedClient: kube, shootClients: createShootClients(kube, log) },
    ...{ waits: notedWaits, keys: newKeyring(), log },
    completer: { complete: async () => true, fail: async () => true },
  });
});

const NOW = "2026-01-01T10:00:00Z";
const newShoot = (spec: Partial<Shoot["spec"]> = {}) => createShoot(kube, `row-${(count += 1)}`, spec);

/** Does what a row of Reconcile says, or of another flow; answers with what it waits for. */
async function row(run: ShootRun, step: string, flow = reconcile): Promise<WaitTarget[]> {
  const { do: action } = flow.steps.get(step) ?? expect.fail(`${flow.title} has no row ${step}`);
  return await act(activities, run, action, step);
}

/** A Shoot's control plane gets as far as an address for its API server. */
async function reachable(run: ShootRun, ip: string): Promise<ShootRun> {
  await row(run, "namespace");
  await row(run, "apiServerService");
  const service = refTo(Service, { namespace: run.technicalID, name: "kube-apiserver" });
  await kube.patch(service, { status: { loadBalancer: { ingress: [{ ip }] } } }, { subresource: "status" });
  return run;
}

describe("a row of Reconcile", () => {
  test.for([
    ["internalDns", "internal", /^api\.row-\d+\.dev\.internal\.perennial\.test$/],
    ["externalDns", "external", /^api\.row-\d+\.dev\.perennial\.test$/],
  ] as const)("%s asks for the Shoot's %s name, which leads to its API server", async ([step, purpose, name]) => {
    const run = await reachable(await newShoot(), "192.0.2.7");
    const targets = await row(run, step);
    const ref = { namespace: run.technicalID, name: `${run.name}-${purpose}` };
    expect(targets).toEqual([expect.objectContaining({ ...ref, kind: "DNSRecord", until: "ready" })]);
    expect(await kube.read(DNSRecord, ref)).toMatchObject({
      metadata: { annotations: { "gardener.cloud/operation": "reconcile" } },
      spec: { name: expect.stringMatching(name) as string, recordType: "A", values: ["192.0.2.7"] },
    });
    expect(await kube.list(DNSRecord, { namespace: run.technicalID })).toHaveLength(1);
  });

  test("apiServerService waits until the way in to the API server has an address", async () => {
    const run = await newShoot();
    await row(run, "namespace");
    const [target = expect.fail("nothing is waited for"), ...others] = await row(run, "apiServerService");
    expect(others).toEqual([]);
    const look = async () => judge(target, (await kube.read(target)) ?? expect.fail("the Service is not there"));
    expect(await look()).toMatchObject({ reached: false });
    const status = { loadBalancer: { ingress: [{ ip: "192.0.2.7" }] } };
    await kube.patch(target, { status }, { subresource: "status" });
    expect(await look()).toEqual({ reached: true });
  });

  test.for([
    ["etcd", ["StatefulSet etcd-events", "StatefulSet etcd-main"]],
    ["kubeApiServer", ["Deployment kube-apiserver"]],
  ] as const)("%s waits for %s until every pod is new and ready", async ([step, workloads]) => {
    const run = await reachable(await newShoot(), "192.0.2.7");
    for (const first of ["secrets", "accessSecrets"]) await row(run, first);
    const targets = await row(run, step);
    expect(targets.map(({ kind, name }) => `${kind} ${name}`).toSorted()).toEqual(workloads);
    for (const target of targets) {
      const look = async () => judge(target, (await kube.read(target)) ?? expect.fail(`${target.name} is not there`));
      const say = (readyReplicas: number, observedGeneration = target.generation) =>
        kube.patch(
          target,
          { status: { observedGeneration, replicas: 1, updatedReplicas: 1, readyReplicas } },
          { subresource: "status" },
        );
      expect(await look()).toMatchObject({ reached: false });
      await say(0);
      expect(await look()).toMatchObject({ reached: false });
      await say(1);
      expect(await look()).toEqual({ reached: true });
    }
  });

  test("controlPlane asks the provider for its part, with what it has built before, and waits for its answer", async () => {
    const controlPlaneConfig = { apiVersion: "local.provider/v1", kind: "ControlPlaneConfig" };
    const { provider } = await exampleSpec();
    const run = await newShoot({ provider: { ...provider, controlPlaneConfig } });
    for (const first of ["namespace", "infrastructure"]) await row(run, first);
    const key = { namespace: run.technicalID, name: run.name };
    const providerStatus = { vpc: "made" };
    await kube.patch(refTo(Infrastructure, key), { status: { providerStatus } }, { subresource: "status" });
    const targets = await row(run, "controlPlane");
    expect(targets).toEqual([expect.objectContaining({ ...key, kind: "ControlPlane", until: "ready" })]);
    expect(await kube.read(ControlPlane, key)).toMatchObject({
      metadata: { annotations: { "gardener.cloud/operation": "reconcile" } },
      spec: { type: "local", providerConfig: controlPlaneConfig, infrastructureProviderStatus: providerStatus },
    });
  });

  test("backupEntry waits until the Shoot's part of the Seed's bucket was made", async () => {
    const credentialsRef = { apiVersion: "v1", kind: "Secret", name: "backup", namespace: "garden" };
    const backup = { provider: "local", region: "local", credentialsRef };
    await kube.apply({ ...typeMeta(Secret), metadata: { name: "backup", namespace: "garden" } });
    const { uid: bucket = "" } = (await kube.patch(refTo(Seed, { name: "seed-1" }), { spec: { backup } })).metadata;
    const secretRef = { name: "backup", namespace: "garden" };
    const spec = { type: "local", region: "local", secretRef };
    await kube.create({ ...typeMeta(ExtensionBackupBucket), metadata: { name: bucket }, spec });
    const done = { type: "Create", state: "Succeeded", progress: 100, description: "", lastUpdateTime: NOW };
    const status = { lastOperation: done };
    await kube.patch(refTo(ExtensionBackupBucket, { name: bucket }), { status }, { subresource: "status" });
    const run = await newShoot();
    await row(run, "namespace");
    const targets = await row(run, "backupEntry");
    const name = `${run.technicalID}--${run.uid}`;
    expect(targets).toEqual([expect.objectContaining({ name, kind: "BackupEntry", until: "ready" })]);
    const [target = expect.fail("nothing is waited for")] = targets;
    const look = async () => judge(target, (await kube.read(ExtensionBackupEntry, { name })) ?? expect.fail("gone"));
    expect(await look()).toMatchObject({ reached: false });
    const annotations = { "gardener.cloud/operation": null };
    await kube.patch(refTo(ExtensionBackupEntry, { name }), { metadata: { annotations } });
    const lastOperation = { ...done, lastUpdateTime: new Date(Date.now() + 1_000).toISOString() };
    const answered = { status: { lastOperation, observedGeneration: 1 } };
    await kube.patch(refTo(ExtensionBackupEntry, { name }), answered, { subresource: "status" });
    expect(await look()).toEqual({ reached: true });
  });

  test("network asks for the network that the Shoot describes, and waits for it", async () => {
    const networking = {
      ...{ type: "calico", pods: "10.170.0.0/16", services: "10.171.0.0/16" },
      providerConfig: { apiVersion: "calico.networking.extensions.gardener.cloud/v1alpha1", kind: "NetworkConfig" },
    };
    const run = await newShoot({ networking });
    await row(run, "namespace");
    const targets = await row(run, "network");
    const key = { namespace: run.technicalID, name: run.name };
    expect(targets).toEqual([expect.objectContaining({ ...key, kind: "Network", until: "ready" })]);
    const { type, pods, services, providerConfig } = networking;
    expect(await kube.read(Network, key)).toMatchObject({
      metadata: { annotations: { "gardener.cloud/operation": "reconcile" } },
      spec: { type, podCIDR: pods, serviceCIDR: services, providerConfig },
    });
  });
});

describe("cluster-autoscaler", () => {
  const deployed = (run: ShootRun) => kube.read(Deployment, { namespace: run.technicalID, name: CLUSTER_AUTOSCALER });
  const isSkipped = (run: ShootRun) =>
    planFlow(reconcile, run).find(({ step }) => step === "clusterAutoscaler")?.skipped;

  test("keeps each pool within its range once its machines were described, and is taken away before users' objects", async () => {
    const run: ShootRun = { ...(await newShoot()), machineControllerManager: true };
    await row(run, "secrets");
    const userData = { worker: { name: "user-data", key: "cloud_config" } };
    const worker = workerObject({ ...exampleContext(), namespace: run.technicalID }, { userData });
    const key = { namespace: run.technicalID, name: run.name };
    await kube.apply({ ...worker, metadata: key });
    const machineDeployments = [{ name: "pool-z1", minimum: 1, maximum: 4, priority: 1 }];
    await kube.patch(refTo(Worker, key), { status: { machineDeployments } }, { subresource: "status" });
    const targets = await row(run, "clusterAutoscaler");
    expect(targets).toEqual([expect.objectContaining({ name: CLUSTER_AUTOSCALER, until: "rolledOut" })]);
    expect(JSON.stringify((await deployed(run))?.spec)).toContain(`--nodes=1:4:${run.technicalID}.pool-z1`);
    await row(run, "destroyClusterAutoscaler", deleteShoot);
    const left = await deployed(run);
    expect(left === undefined || left.metadata.deletionTimestamp !== undefined).toBe(true);
    expect(before(deleteShoot, "cleanKubernetesResources")).toContain("destroyClusterAutoscaler");
  });

  test("is left out where the Worker's controller makes machines itself", async () => {
    const run = await newShoot();
    expect(isSkipped(run)).toBeTruthy();
    expect(isSkipped({ ...run, machineControllerManager: true })).toBeFalsy();
  });
});

describe("clients for a Shoot", () => {
  test.for([reconcile, deleteShoot])("$title has them once the Shoot's own API server is ready", async (flow) => {
    const run = await newShoot();
    const initialize = () => row(run, "shootClients", flow);
    await expect(initialize()).rejects.toThrow("has no kubeconfig for the Shoot");
    const told = (server: string) => {
      const kubeconfig = Buffer.from(cluster.kubeconfig.replace(/server: .*/, `server: ${server}`)).toString("base64");
      const metadata = { namespace: run.technicalID, name: "gardener-internal" };
      return kube.apply({ ...typeMeta(Secret), metadata, data: { kubeconfig } });
    };
    await told("https://127.0.0.1:1");
    await expect(initialize()).rejects.toThrow("127.0.0.1");
    const [, server = ""] = /server: (.*)/.exec(cluster.kubeconfig) ?? [];
    await told(server);
    await expect(initialize()).resolves.toEqual([]);
  });

  test("come before all that is cleaned through them", () => {
    for (const step of ["cleanWebhooks", "cleanExtendedApis", "cleanKubernetesResources"] as const)
      expect(before(deleteShoot, step), step).toContain("shootClients");
  });
});

/** What the example Shoot says. */
async function exampleSpec(): Promise<Shoot["spec"]> {
  const shoot = (await exampleObjects()).find(({ kind }) => kind === "Shoot");
  return (shoot as Shoot | undefined)?.spec ?? expect.fail("deploy/examples has no Shoot");
}
