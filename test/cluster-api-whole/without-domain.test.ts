import { isIPv4 } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Cluster, ClusterEndpoint, ShootControlPlane } from "../../src/api/cluster-api/index.ts";
import { Seed } from "../../src/api/index.ts";
import { refTo } from "../../src/kube/index.ts";
import { clusterOf, controlPlaneOf } from "../support/cluster-api-objects.ts";
import { clusterApiEnvironment } from "../support/cluster-api-setup.ts";
import { recordConditions, renderChanges } from "../support/condition-record.ts";
import { findTestShoot, seedsOf, type TestShoot } from "../support/e2e-shoots.ts";
import { eventually } from "../support/eventually.ts";
import { localEnvironment, type LocalEnvironment } from "../support/local-environment.ts";
import {
  clusterNamespace as namespace,
  openManagementCluster,
  type ManagementCluster,
} from "../support/management-cluster.ts";
import { countManagerProbes, renderProbes } from "../support/manager-probes.ts";
import { findShootRemains } from "../support/shoot-remains.ts";

/**
 * A Cluster whose Shoot has no domain, on Seeds that have none either: its API server is known by the address of its load balancer only,
 * which is another one on each Seed.
 */
let local: LocalEnvironment;
let management: ManagementCluster;
let shoot: TestShoot;
const told: string[] = [];
const domains = new Map<string, Seed["spec"]["dns"]>();

beforeAll(async () => {
  local = await localEnvironment(clusterApiEnvironment, { clusterApi: true });
  management = await openManagementCluster(local);
  for (const { metadata, spec } of await local.gardenClient.list(Seed)) {
    domains.set(metadata.name, spec.dns);
    await changeDomains(metadata.name, { internal: null, defaults: null });
  }
});

afterAll(async () => {
  console.log(told.join("\n"));
  for (const [seed, { internal, defaults }] of domains) await changeDomains(seed, { internal, defaults });
  await management?.close();
  await local?.close();
});

describe("a Cluster whose Shoot has no domain", () => {
  test("has the address of its API server as its endpoint, and in its kubeconfig", async () => {
    const { shootTemplate: _, ...spec } = controlPlaneOf("bare").spec;
    const template = {
      spec: {
        cloudProfile: { kind: "CloudProfile" as const, name: "local" },
        region: "local",
        provider: { type: "local" },
      },
    };
    await local.gardenClient.apply(clusterOf("bare"));
    await local.gardenClient.apply(controlPlaneOf("bare", { ...spec, workerless: true, shootTemplate: template }));
    await eventually(async () => expect(await statusOf("Available")).toBe("True"), 300_000);
    shoot = await findTestShoot(local, "bare");
    expect(isIPv4(await addressSaidEverywhere())).toBe(true);
  });

  test("has another address after a move, and endpoint, Cluster and kubeconfig follow it", async () => {
    const before = await addressSaidEverywhere();
    const endpoint = await readEndpoint();
    const record = recordConditions(local.gardenClient, namespace, [Cluster, ClusterEndpoint, ShootControlPlane]);
    await record.started;
    const probes = await countManagerProbes(local.environment, "bare");
    await migrate();
    await shoot.settles("Succeeded", "Restore", 300_000);
    await eventually(async () => expect(await addressSaidEverywhere()).not.toBe(before), 60_000);
    // Core goes on with the old address until five of its probes have failed, and only then reads the kubeconfig anew.
    const { succeeded } = probes.count();
    await eventually(() => expect(probes.count().succeeded).toBeGreaterThan(succeeded), 240_000);
    await eventually(async () => {
      for (const type of ["Available", "RemoteConnectionProbe", "perennial.dev/EndpointReady"])
        expect(await statusOf(type)).toBe("True");
    }, 60_000);
    const counted = await probes.stop();
    await record.stop();
    told.push(renderProbes(counted), renderChanges(record.changes));
    expect((await readEndpoint())?.metadata.uid).toBe(endpoint?.metadata.uid);
    expect(await management.inCluster("bare", ["get", "--raw", "/readyz"])).toBe("ok");
  });

  test("is deleted while it moves: that waits until the Shoot has arrived, and then nothing is left of it", async () => {
    await eventually(async () => expect((await shoot.read())?.status?.seeds).toHaveLength(1), 120_000);
    await migrate();
    await shoot.settles("Processing", "Migrate", 60_000);
    await management.kubectl(["delete", "cluster", "bare", "--wait=false"]);
    const message = await eventually(async () => {
      const controlPlane = await local.gardenClient.read(refTo(ShootControlPlane, { namespace, name: "bare" }));
      const deleting = controlPlane?.status?.conditions?.find(({ type }) => type === "Deleting");
      expect(deleting).toMatchObject({ status: "True", reason: "ShootMoving" });
      return deleting?.message;
    }, 60_000);
    told.push(`deleting meanwhile: ${message}`);
    const moving = await shoot.read();
    expect(moving?.metadata.deletionTimestamp).toBeUndefined();
    expect(moving?.metadata.annotations).not.toHaveProperty(["confirmation.gardener.cloud/deletion"]);
    await shoot.gone(600_000);
    await eventually(
      async () => expect(await local.gardenClient.read(refTo(Cluster, { namespace, name: "bare" }))).toBeUndefined(),
      60_000,
    );
    await eventually(async () => expect(await findShootRemains(local, shoot)).toEqual([]), 120_000);
  });
});

const changeDomains = (name: string, dns: Record<string, unknown>) =>
  local.gardenClient.patch(refTo(Seed, { name }), { spec: { dns } });

async function migrate(): Promise<void> {
  const { to } = await seedsOf(shoot);
  await local.perennial("shoot", "migrate", "garden-dev/bare", "--to", to, "-y");
}

const readEndpoint = () => local.gardenClient.read(refTo(ClusterEndpoint, { namespace, name: "bare-control-plane" }));

async function statusOf(condition: string): Promise<string | undefined> {
  const cluster = await local.gardenClient.read(refTo(Cluster, { namespace, name: "bare" }));
  return cluster?.status?.conditions?.find(({ type }) => type === condition)?.status;
}

/** The address that the Shoot advertises, which ClusterEndpoint, control plane, Cluster and kubeconfig say, too; fails where one says another. */
async function addressSaidEverywhere(): Promise<string> {
  const urls = new Set((await shoot.read())?.status?.advertisedAddresses?.map(({ url }) => url));
  expect(urls.size).toBe(1);
  const [url = ""] = urls;
  const value = { host: new URL(url).hostname, port: 443 };
  const cluster = await local.gardenClient.read(refTo(Cluster, { namespace, name: "bare" }));
  const controlPlane = await local.gardenClient.read(refTo(ShootControlPlane, { namespace, name: "bare" }));
  expect((await readEndpoint())?.spec).toMatchObject(value);
  expect(controlPlane?.spec.controlPlaneEndpoint).toEqual(value);
  expect(cluster?.spec.controlPlaneEndpoint).toEqual(value);
  expect(await management.clusterctl("get", "kubeconfig", "bare")).toContain(`server: https://${value.host}\n`);
  return value.host;
}
