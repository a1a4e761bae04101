import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join as path } from "node:path";
import { expect } from "vitest";
import { makeServingCertificate } from "../../src/admission/index.ts";
import {
  Cluster,
  ClusterClass,
  ClusterEndpoint,
  MachinePool,
  REPLICAS_MANAGED_BY_ANNOTATION,
  ShootBootstrapConfig,
  ShootCluster,
  ShootClusterTemplate,
  ShootControlPlane,
  ShootMachinePool,
} from "../../src/api/cluster-api/index.ts";
import { Shoot, type KubeObject } from "../../src/api/index.ts";
import { Event, Namespace, refTo, Secret, typeMeta } from "../../src/kube/index.ts";
import { clusterApiTestWith, startClusterApi } from "../support/cluster-api.ts";
import { clusterOf, controlPlaneOf, infrastructureRefOf, poolOf } from "../support/cluster-api-objects.ts";
import { clusterApiRoles, readUse, rightsIn } from "../support/cluster-api-rights.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { applyCrds } from "../support/crds.ts";
import { eventually } from "../support/eventually.ts";
import { advertise, finish, join } from "../support/played-shoot.ts";
import { bringCredentials, leadName, leaveCredentials, reserveDomain } from "../support/rights-scenarios.ts";
import { readPresent } from "../support/read-present.ts";

const namespace = "garden-dev";
const folder = mkdtempSync(path(tmpdir(), "perennial-audit-"));
const log = path(folder, "audit.log");

/** The core manager, and a garden in the same cluster, whose API server notes what process `cluster-api` asks for. */
const test = clusterApiTestWith({
  flags: [
    `--audit-policy-file=${path(import.meta.dirname, "../support/audit-policy.yaml")}`,
    `--audit-log-path=${log}`,
  ],
}).extend("roles", { scope: "file" }, async ({ cluster, core }) => {
  expect(core.output()).not.toBe("");
  const { client } = cluster;
  await applyCrds(client);
  for (const name of [namespace, "perennial"]) await client.apply({ ...typeMeta(Namespace), metadata: { name } });
  const roles = await clusterApiRoles();
  for (const role of roles) await client.apply(role);
  return roles;
});

test.afterAll(() => rm(folder, { recursive: true, force: true }));

test("the process makes, scales and deletes Clusters of all scenarios, and leads names, with its own rights, and needs each of them", async ({
  cluster,
  roles,
}) => {
  const { client } = cluster;
  const start = () => startClusterApi(cluster, { kubeconfig: cluster.kubeconfigOf("cluster-api") });
  await (await start()).stop();
  await spoilCertificate(cluster);
  const own = await start();
  try {
    await leaveOutInfrastructure(cluster);
    await makeCluster(cluster);
    await scale(cluster);
    await changeEndpoints(cluster);
    await client.remove(refTo(Cluster, key));
    await eventually(async () => expect(await client.read(Cluster, key)).toBeUndefined(), 60_000);
    expect(await client.read(Shoot, key)).toBeUndefined();
    for (const scenario of [bringCredentials, leaveCredentials, reserveDomain, leadName]) await scenario(cluster);
  } finally {
    await own.stop();
  }
  const rights = rightsIn(roles).filter((right) => !askedByAdmission.includes(right));
  const { unused, forbidden } = await readUse(log, rights);
  expect(forbidden, "what roles refused").toEqual([]);
  expect(unused, "what roles grant and nothing needs").toEqual([]);
});

/** Rights that admission wants of an author: shoot-refusals.test.ts. */
const askedByAdmission = [
  ...["get /secrets", "get /configmaps", "update core.gardener.cloud/shoots/binding"],
  "create authorization.k8s.io/subjectaccessreviews",
  "update perennial.dev/reservedkeys", // asked by the garden's policy, which leaves no trace: test/kube/reserved-keys.test.ts
];

const key = { namespace, name: "granted" };

/** A certificate for another host has to be replaced. */
async function spoilCertificate({ client }: ControlPlane): Promise<void> {
  const { cert, key: secret } = await makeServingCertificate(["another.example.com"]);
  const encode = (text: string) => Buffer.from(text).toString("base64");
  await client.patch(refTo(Secret, { namespace: "perennial", name: "perennial-cluster-api-admission" }), {
    data: { "tls.crt": encode(cert), "tls.key": encode(secret), "ca.crt": encode(cert) },
  });
}

async function leaveOutInfrastructure({ client }: ControlPlane): Promise<void> {
  const templateRef = {
    apiVersion: ShootControlPlane.apiVersion,
    kind: "ShootControlPlaneTemplate",
    name: "none",
  };
  const bare = {
    ...typeMeta(ClusterClass),
    metadata: { namespace, name: "bare" },
    spec: { controlPlane: { templateRef } },
  };
  await eventually(() => client.apply(bare));
  await eventually(async () => expect(await client.list(ShootClusterTemplate, { namespace })).toHaveLength(1));
}

/** With infrastructure, and a pool that an autoscaler decides about. */
async function makeCluster(cluster: ControlPlane): Promise<void> {
  const { client } = cluster;
  const annotations = { [REPLICAS_MANAGED_BY_ANNOTATION]: "autoscaler" };
  const { machinePool, infrastructure } = poolOf(key.name, "pool", { annotations, spec: { minimum: 1, maximum: 3 } });
  await client.create({ ...typeMeta(ShootCluster), metadata: key, spec: { region: "local" } });
  await client.create({ ...typeMeta(ShootBootstrapConfig), metadata: key, spec: {} });
  await client.create(controlPlaneOf(key.name));
  await client.create(clusterOf(key.name, { infrastructureRef: infrastructureRefOf(key.name) }));
  await client.create(infrastructure);
  await client.create(machinePool);
  await eventually(() => readPresent(cluster, Shoot, key), 60_000);
  await advertise(client, key, client.server);
  await finish(cluster, key);
  for (const machine of ["granted-1", "granted-2"]) await join(client, machine, "pool");
  await eventually(async () => {
    expect((await readPresent(cluster, MachinePool, { namespace, name: "pool" })).spec.replicas).toBe(2);
    expect((await readPresent(cluster, Cluster, key)).spec.controlPlaneEndpoint?.host).toBe("127.0.0.1");
    expect((await readPresent(cluster, ShootBootstrapConfig, key)).status?.initialization?.dataSecretCreated).toBe(
      true,
    );
  }, 60_000);
}

async function scale(cluster: ControlPlane): Promise<void> {
  await cluster.client.patch(refTo(ShootMachinePool, { namespace, name: "pool" }), { spec: { maximum: 5 } });
  await eventually(async () =>
    expect((await readPresent(cluster, Shoot, key)).spec.provider.workers).toMatchObject([{ maximum: 5 }]),
  );
}

/** A third party's endpoint is taken in, foreign edits are put right, and a Cluster that has an endpoint gets an object. */
async function changeEndpoints(cluster: ControlPlane): Promise<void> {
  const { client } = cluster;
  const wins = { host: "granted.example.com", port: 443 };
  const endpoint = { cluster: key.name, ...wins, type: "ExternalControlPlaneEndpoint" };
  // Under the name that the object of another Cluster would have.
  await client.create({ ...typeMeta(ClusterEndpoint), metadata: { namespace, name: "taken" }, spec: endpoint });
  await client.create(controlPlaneOf("taken"));
  await client.create({ ...typeMeta(ShootCluster), metadata: { namespace, name: "taken" }, spec: {} });
  const controlPlaneEndpoint = { host: "taken.example.com", port: 6443 };
  await client.create(clusterOf("taken", { controlPlaneEndpoint, infrastructureRef: infrastructureRefOf("taken") }));
  await eventually(() => readPresent(cluster, ClusterEndpoint, { namespace, name: "taken-generated" }));
  const isPutRight = async () =>
    expect((await readPresent(cluster, Cluster, key)).spec.controlPlaneEndpoint).toEqual(wins);
  await eventually(isPutRight, 60_000);
  for (const times of [1, 2]) {
    await eventually(async () => {
      const { status } = await readPresent(cluster, ClusterEndpoint, { namespace, name: "taken" });
      expect(status?.conditions).toContainEqual(expect.objectContaining({ type: "Surfaced", status: "True" }));
    });
    await client.patch(refTo(Cluster, key), { spec: { controlPlaneEndpoint: { host: "foreign.example.com" } } });
    await eventually(isPutRight);
    await eventually(async () => {
      const events = (await client.list(Event, { namespace })) as readonly (KubeObject & Counted)[];
      const [found] = events.filter(({ reason }) => reason === "EndpointPutRight");
      expect(found?.series?.count ?? 1).toBe(times);
    });
  }
}

interface Counted {
  readonly reason?: string;
  readonly series?: { readonly count: number };
}
