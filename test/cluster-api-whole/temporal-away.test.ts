import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Cluster, ClusterEndpoint, clusterKubeconfigName, ShootControlPlane } from "../../src/api/cluster-api/index.ts";
import { Shoot } from "../../src/api/index.ts";
import { refTo, Secret } from "../../src/kube/index.ts";
import { clusterOf, controlPlaneOf } from "../support/cluster-api-objects.ts";
import { clusterApiEnvironment } from "../support/cluster-api-setup.ts";
import { conditionOf } from "../support/cluster-conditions.ts";
import { recordConditions, renderChanges } from "../support/condition-record.ts";
import { findTestShoot } from "../support/e2e-shoots.ts";
import { eventually } from "../support/eventually.ts";
import { localEnvironment, type LocalEnvironment } from "../support/local-environment.ts";
import {
  clusterNamespace as namespace,
  openManagementCluster,
  type ManagementCluster,
} from "../support/management-cluster.ts";
import { saidOf } from "../support/outages.ts";
import { findShootRemains } from "../support/shoot-remains.ts";

/** Temporal with all that lives by it: Shoots' flows, in a real environment. Process `cluster-api` has no client of it. */
let local: LocalEnvironment;
let management: ManagementCluster;
const told: string[] = [];

beforeAll(async () => {
  local = await localEnvironment(clusterApiEnvironment, { clusterApi: true });
  management = await openManagementCluster(local);
});

afterAll(async () => {
  console.log(told.join("\n"));
  await management?.close();
  await local?.close();
});

test("while Temporal is away for a minute, Clusters that serve stay as they are, and those that begin say what they wait for", async () => {
  const { gardenClient: client } = local;
  await make("steady");
  await eventually(async () => expect(await available("steady")).toMatchObject({ status: "True" }), 300_000);
  await make("halfway");
  const shoot = await eventually(() => findTestShoot(local, "halfway"), 60_000);
  await shoot.begun("etcd", 120_000);

  const before = await constants("steady");
  const record = recordConditions(client, namespace, [Cluster, ClusterEndpoint, ShootControlPlane]);
  await record.started;
  const begun = record.changes.length;
  await local.pause("temporal");
  try {
    const end = sleep(60_000);
    await make("late");
    const waiting = await eventually(async () => {
      const said = await saidOf(client, ShootControlPlane, key("late"), "Available");
      expect(said?.message).toBe(`Shoot ${namespace}/late waits for its flow to begin`);
      return said;
    }, 30_000);
    expect(await saidOf(client, ShootControlPlane, key("late"), "ShootSynced")).toMatchObject({ status: "True" });
    expect(await management.inCluster("steady", ["get", "--raw", "/readyz"])).toBe("ok");
    await end;
    expect(await saidOf(client, ShootControlPlane, key("late"), "Available"), "since when stays").toEqual(waiting);
    const halfway = await saidOf(client, ShootControlPlane, key("halfway"), "Available");
    expect(halfway).toMatchObject({ status: "False", reason: "NotInitialized" });
    expect(halfway?.message).toMatch(/^Shoot \S+ is in operation Create, which is Processing/);
    told.push(
      await management.clusterctl("describe", "cluster", "late"),
      await management.clusterctl("describe", "cluster", "halfway"),
    );
    expect(record.changes.slice(begun).filter(({ object }) => object.endsWith("steady"))).toEqual([]);
    expect(await constants("steady")).toEqual(before);
  } finally {
    await local.resume("temporal");
  }
  const back = performance.now();
  for (const name of ["halfway", "late"])
    await eventually(async () => expect(await available(name), name).toMatchObject({ status: "True" }), 300_000);
  told.push(`both are available ${((performance.now() - back) / 1_000).toFixed(1)} s after Temporal is back`);
  await record.stop();
  told.push(renderChanges(record.changes.slice(begun)));
  expect(await constants("steady")).toEqual(before);
  const steady = record.changes
    .slice(begun)
    .filter(({ object, type, status }) => object.endsWith(" steady") && type === "Available" && status !== "True");
  expect(steady).toEqual([]);
});

test("Clusters that were made so go without remains", async () => {
  const names = ["steady", "halfway", "late"];
  const shoots = await Promise.all(names.map((name) => findTestShoot(local, name)));
  for (const name of names) await management.kubectl(["delete", "cluster", name, "--wait=false"]);
  for (const shoot of shoots) await shoot.gone(240_000);
  await eventually(async () => {
    for (const name of names) expect(await local.gardenClient.read(refTo(Cluster, key(name)))).toBeUndefined();
    for (const shoot of shoots) expect(await findShootRemains(local, shoot)).toEqual([]);
  }, 60_000);
});

const key = (name: string) => ({ namespace, name });

const available = (name: string) => conditionOf(local.gardenClient, key(name), "Available");

/** A Cluster without machines. */
async function make(name: string): Promise<void> {
  const { shootTemplate: _, ...spec } = controlPlaneOf(name).spec;
  const template = {
    spec: {
      cloudProfile: { kind: "CloudProfile" as const, name: "local" },
      region: "local",
      dns: { domain: `${name}.dev.${local.environment.domain}` },
      provider: { type: "local" },
    },
  };
  await local.gardenClient.apply(clusterOf(name));
  await local.gardenClient.apply(controlPlaneOf(name, { ...spec, workerless: true, shootTemplate: template }));
}

/** What an outage changes nothing of: which objects they are, where the Cluster is, and how it is reached. */
async function constants(name: string): Promise<unknown> {
  const { gardenClient: client } = local;
  const secret = await client.read(Secret, { namespace, name: clusterKubeconfigName(name) });
  const endpoint = await client.read(ClusterEndpoint, { namespace, name: `${name}-control-plane` });
  const cluster = await client.read(Cluster, key(name));
  return {
    kubeconfig: [secret?.metadata.uid, secret?.metadata.resourceVersion],
    endpoint: [endpoint?.metadata.uid, endpoint?.spec],
    cluster: [cluster?.metadata.uid, cluster?.spec.controlPlaneEndpoint],
    shoot: (await client.read(Shoot, key(name)))?.metadata.uid,
  };
}
