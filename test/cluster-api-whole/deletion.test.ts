import { expect } from "vitest";
import { CONFIRM_DELETION_ANNOTATION } from "../../src/api/annotations.ts";
import { Cluster, ClusterEndpoint, clusterKubeconfigName, ShootControlPlane } from "../../src/api/cluster-api/index.ts";
import { CONTROL_PLANE_ID_LABEL, CONTROL_PLANE_SHOOT_LABEL } from "../../src/api/labels.ts";
import { Shoot } from "../../src/api/index.ts";
import { createReflector, Namespace, refTo, Secret, typeMeta } from "../../src/kube/index.ts";
import { clusterApiTest, startClusterApi } from "../support/cluster-api.ts";
import { clusterOf, controlPlaneOf, poolOf } from "../support/cluster-api-objects.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { applyCrds } from "../support/crds.ts";
import { eventually } from "../support/eventually.ts";
import { advertise, finish, operation, patchStatus } from "../support/played-shoot.ts";

const namespace = "garden-dev";

/** The core manager, our whole process, and a garden in one cluster; only what flows write to Shoots' status is played. */
const test = clusterApiTest.extend("own", { scope: "file" }, async ({ cluster, core }, { onCleanup }) => {
  expect(core.output()).not.toBe("");
  await applyCrds(cluster.client);
  await cluster.client.apply({ ...typeMeta(Namespace), metadata: { name: namespace } });
  await refuse(cluster, "judged");
  const own = await startClusterApi(cluster);
  onCleanup(() => own.stop());
  return own;
});

test("a Shoot that others delete beneath its Cluster is not made again before a person says so", async ({
  cluster,
  own,
}) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const { key, shoot } = await make(cluster, "lost");
  await client.remove(refTo(Shoot, key));
  const said = await eventually(async () => {
    const available = await conditionOf(cluster, key, "Available");
    return available?.reason === "ShootDeleted" && available;
  });
  expect(said).toMatchObject({ status: "False" });
  expect(said.message).toContain(CONTROL_PLANE_SHOOT_LABEL);
  await client.patch(refTo(ShootControlPlane, key), { metadata: { labels: { nudge: "1" } } });
  await eventually(async () => (await conditionOf(cluster, key, "ShootSynced"))?.reason === "ShootDeleted");
  expect(await client.read(Shoot, key)).toBeUndefined();

  await client.patch(refTo(ShootControlPlane, key), { metadata: { labels: { [CONTROL_PLANE_SHOOT_LABEL]: null } } });
  const second = await eventually(async () => (await client.read(Shoot, key)) ?? false);
  expect(second.metadata.uid).not.toBe(shoot.metadata.uid);
});

test("a Cluster that is deleted while its Shoot moves waits until that has arrived", async ({ cluster, own }) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const { key } = await make(cluster, "leaving");
  await client.patch(refTo(Shoot, key), { spec: { seedName: "seed-2" } });
  await patchStatus(client, key, { seedName: "seed-1", lastOperation: operation("Migrate", "Processing", 10) });
  await client.remove(refTo(Cluster, key));
  await eventually(async () => (await conditionOf(cluster, key, "Deleting"))?.reason === "ShootMoving");
  expect((await client.read(Shoot, key))?.metadata.deletionTimestamp).toBeUndefined();
  await patchStatus(client, key, { seedName: "seed-2", lastOperation: operation("Restore", "Succeeded", 100) });
  await eventually(async () => expect(await client.read(Cluster, key)).toBeUndefined(), 60_000);
  expect(await client.read(Shoot, key)).toBeUndefined();
});

test("a Shoot that admission refuses to a Cluster stays free, and its kubeconfig is not passed on", async ({
  cluster,
  own,
}) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const key = { namespace, name: "judged" };
  const { spec } = controlPlaneOf("judged").spec.shootTemplate ?? {};
  const workers = [{ name: "own", minimum: 1, maximum: 1, machine: { type: "local" } }];
  const kubernetes = { version: "1.34.4" };
  await client.create({
    ...typeMeta(Shoot),
    metadata: key,
    spec: { ...spec, region: "local", kubernetes, provider: { type: "local", workers } },
  });
  await advertise(client, key, client.server);
  await finish(cluster, key);
  await client.create({ ...controlPlaneOf("judge"), spec: { version: "v1.34.5", shootRef: { name: "judged" } } });
  await client.create(clusterOf("judge"));
  const synced = await eventually(async () => {
    const found = await conditionOf(cluster, { namespace, name: "judge" }, "ShootSynced");
    return found?.reason === "Refused" && found;
  });
  expect(synced.message).toContain("judged stays as it is");
  expect((await client.read(Shoot, key))?.metadata.labels).toBeUndefined();
  expect(await client.read(Secret, { namespace, name: clusterKubeconfigName("judge") })).toBeUndefined();
});

test("a Shoot that a Cluster has adopted goes with it where the control plane says so", async ({ cluster, own }) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const key = { namespace, name: "adopted" };
  const { spec } = controlPlaneOf("adopted").spec.shootTemplate ?? {};
  const workers = [{ name: "own", minimum: 1, maximum: 1, machine: { type: "local" } }];
  const kubernetes = { version: "1.34.4" };
  await client.create({
    ...typeMeta(Shoot),
    metadata: key,
    spec: { ...spec, region: "local", kubernetes, provider: { type: "local", workers } },
  });
  const wanted = { version: "v1.34.4", shootRef: { name: "adopted" }, deletionPolicy: "Delete" as const };
  await client.create({ ...controlPlaneOf("taker"), spec: wanted });
  await client.create(clusterOf("taker"));
  await eventually(async () =>
    expect((await client.read(Shoot, key))?.metadata.labels).toHaveProperty([CONTROL_PLANE_ID_LABEL]),
  );
  const { uid } = (await client.read(Shoot, key))?.metadata ?? {};
  await client.patch(refTo(Shoot, key), { metadata: { finalizers: ["gardener"] } });
  await client.remove(refTo(Cluster, { namespace, name: "taker" }));
  const leaving = await eventually(async () => {
    const found = await client.read(Shoot, key);
    return found?.metadata.deletionTimestamp !== undefined && found;
  }, 60_000);
  expect(leaving.metadata.uid).toBe(uid);
  expect(leaving.metadata.annotations?.[CONFIRM_DELETION_ANNOTATION]).toBe("true");
  expect(await client.read(Cluster, { namespace, name: "taker" }), "while there is a Shoot").toBeDefined();
  await client.patch(refTo(Shoot, key), { metadata: { finalizers: null } });
  await eventually(
    async () => expect(await client.read(Cluster, { namespace, name: "taker" })).toBeUndefined(),
    60_000,
  );
});

test("a user's own object that is called as the control plane's endpoint stays as it is", async ({ cluster, own }) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const theirs = { namespace, name: "named-control-plane" };
  const said = { cluster: "named", host: "lb.example.com", port: 6443, type: "ExternalControlPlaneEndpoint" as const };
  await client.create({ ...typeMeta(ClusterEndpoint), metadata: theirs, spec: said });
  const { key } = await make(cluster, "named");
  await eventually(async () =>
    expect(await conditionOf(cluster, key, "EndpointPublished")).toMatchObject({
      status: "False",
      reason: "NameTaken",
    }),
  );
  expect((await client.read(ClusterEndpoint, theirs))?.spec).toEqual(said);
  expect((await client.read(Cluster, key))?.spec.controlPlaneEndpoint).toEqual({ host: said.host, port: said.port });
});

test("a Shoot's new address reaches endpoint and Cluster, and the kubeconfig with one write at most", async ({
  cluster,
  own,
}) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const { key } = await make(cluster, "roaming");
  const secret = { namespace, name: clusterKubeconfigName("roaming") };
  const endpoint = { namespace, name: "roaming-control-plane" };
  await eventually(async () => {
    const found = await client.read(ClusterEndpoint, endpoint);
    expect(found?.status?.conditions).toContainEqual(expect.objectContaining({ type: "Surfaced", status: "True" }));
    expect(await client.read(Secret, secret)).toBeDefined();
  });
  const versions = new Set<string | undefined>();
  const watch = createReflector(client, Secret, {
    namespace,
    fieldSelector: `metadata.name=${secret.name}`,
    onEvent: ({ object }) => void versions.add(object.metadata.resourceVersion),
  });
  watch.start();
  await watch.synced();
  await patchStatus(client, key, {
    advertisedAddresses: [{ name: "external", url: "https://api.elsewhere.test:8443" }],
  });
  const moved = { host: "api.elsewhere.test", port: 8443 };
  await eventually(async () => {
    expect((await client.read(Cluster, key))?.spec.controlPlaneEndpoint).toEqual(moved);
    expect((await client.read(ShootControlPlane, key))?.spec.controlPlaneEndpoint).toEqual(moved);
    const found = await client.read(ClusterEndpoint, endpoint);
    const surfaced = found?.status?.conditions?.find(({ type }) => type === "Surfaced");
    expect(surfaced).toMatchObject({ status: "True", observedGeneration: found?.metadata.generation });
  });
  await watch.stop();
  expect(versions.size, "the garden publishes the same kubeconfig, so nothing is to be written").toBe(1);
});

/** A Cluster whose Shoot is made and has an address. */
async function make(cluster: ControlPlane, name: string) {
  const { client } = cluster;
  const key = { namespace, name };
  await client.create(controlPlaneOf(name));
  await client.create(clusterOf(name));
  const { machinePool, infrastructure } = poolOf(name, `${name}-pool`);
  await client.create(infrastructure);
  await client.create(machinePool);
  const shoot = await eventually(async () => (await client.read(Shoot, key)) ?? false);
  await advertise(client, key, client.server);
  await finish(cluster, key);
  await eventually(async () => (await conditionOf(cluster, key, "Available"))?.status === "True");
  return { key, shoot };
}

const conditionOf = async (
  { client }: ControlPlane,
  key: { readonly namespace: string; readonly name: string },
  type: string,
) => (await client.read(ShootControlPlane, key))?.status?.conditions?.find((one) => one.type === type);

/** Has the garden refuse every change of a Shoot's version, as admission may. */
async function refuse({ client }: ControlPlane, name: string): Promise<void> {
  const policy = { apiVersion: "admissionregistration.k8s.io/v1", metadata: { name: "refuses" } };
  const rule = {
    apiGroups: ["core.gardener.cloud"],
    apiVersions: ["v1beta1"],
    operations: ["UPDATE"],
    resources: ["shoots"],
  };
  await client.create({
    ...policy,
    kind: "ValidatingAdmissionPolicy",
    spec: {
      failurePolicy: "Fail",
      matchConstraints: { resourceRules: [rule] },
      validations: [
        {
          expression: `object.metadata.name != "${name}" || object.spec.kubernetes.version == oldObject.spec.kubernetes.version`,
          message: `${name} stays as it is`,
        },
      ],
    },
  });
  await client.create({
    ...policy,
    kind: "ValidatingAdmissionPolicyBinding",
    spec: { policyName: "refuses", validationActions: ["Deny"] },
  });
}
