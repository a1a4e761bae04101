import { expect } from "vitest";
import {
  Cluster,
  ClusterEndpoint,
  clusterKubeconfigName,
  MachinePool,
  ShootControlPlane,
} from "../../src/api/cluster-api/index.ts";
import { Shoot, type KubeObject } from "../../src/api/index.ts";
import { Event, Namespace, refTo, Secret, typeMeta } from "../../src/kube/index.ts";
import { clusterApiTest, startClusterApi } from "../support/cluster-api.ts";
import { clusterOf, controlPlaneOf, poolOf } from "../support/cluster-api-objects.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { applyCrds } from "../support/crds.ts";
import { eventually } from "../support/eventually.ts";
import { advertise, finish } from "../support/played-shoot.ts";

const namespace = "garden-dev";

/** The core manager, our whole process, and a garden in one cluster; only what flows write to Shoots' status is played. */
const test = clusterApiTest.extend("own", { scope: "file" }, async ({ cluster, core }, { onCleanup }) => {
  expect(core.output()).not.toBe("");
  await applyCrds(cluster.client);
  await cluster.client.apply({ ...typeMeta(Namespace), metadata: { name: namespace } });
  const own = await startClusterApi(cluster);
  onCleanup(() => own.stop());
  return own;
});

const owner = { apiVersion: "v1", kind: "ConfigMap", name: "other", uid: "4a7f", controller: true };

test.for<[string, string, Partial<Secret>, object, string]>([
  [
    "of another type",
    "typed",
    { type: "Opaque" },
    {},
    "Secret garden-dev/typed-kubeconfig is of type Opaque, and not cluster.x-k8s.io/secret: delete it",
  ],
  [
    "of another owner",
    "owned",
    { type: "cluster.x-k8s.io/secret" },
    { ownerReferences: [owner] },
    "Secret garden-dev/owned-kubeconfig belongs to ConfigMap other: delete it",
  ],
])(
  "a Secret %s in the kubeconfig's place stays, is named by a condition, and holds up nothing else",
  async ([, name, secret, metadata, message], { cluster, own }) => {
    expect(own).toBeDefined();
    const { client } = cluster;
    const place = { namespace, name: clusterKubeconfigName(name) };
    const theirs = { value: Buffer.from("theirs").toString("base64") };
    await client.create({ ...typeMeta(Secret), ...secret, metadata: { ...place, ...metadata }, data: theirs });
    const { key } = await make(cluster, name);
    const said = await eventually(async () => {
      const found = await conditionOf(cluster, key, "KubeconfigPublished");
      return found?.status === "False" && found;
    });
    expect(said).toMatchObject({ reason: "KubeconfigRefused", message: expect.stringContaining(message) as string });
    await eventually(async () =>
      expect(await conditionOf(cluster, key, "Available")).toMatchObject({ status: "True" }),
    );
    expect((await client.read(Secret, place))?.data).toEqual(theirs);
    await client.patch(refTo(MachinePool, { namespace, name: `${name}-pool` }), { spec: { replicas: 2 } });
    await eventually(async () =>
      expect((await client.read(Shoot, key))?.spec.provider.workers?.[0]).toMatchObject({ maximum: 2 }),
    );

    await client.remove(refTo(Secret, place));
    await nudge(cluster, key); // else after about a minute
    await eventually(async () =>
      expect(await conditionOf(cluster, key, "KubeconfigPublished")).toMatchObject({ status: "True" }),
    );
    expect((await client.read(Secret, place))?.data?.["value"]).toBe(
      Buffer.from(cluster.tokenKubeconfig).toString("base64"),
    );
  },
);

test("a ClusterEndpoint of the control plane's that a user edits is put right, and an Event names who did it", async ({
  cluster,
  own,
}) => {
  expect(own).toBeDefined();
  const { client } = cluster;
  const { key } = await make(cluster, "edited");
  const place = { namespace, name: "edited-control-plane" };
  const before = await eventually(async () => (await client.read(ClusterEndpoint, place)) ?? false);
  const edit = { spec: { host: "elsewhere.example.com" } };
  await client.patch(refTo(ClusterEndpoint, place), edit, { fieldManager: "kubectl-edit" });
  const note = await eventually(async () => {
    const events = (await client.list(Event, { namespace })) as readonly (KubeObject & Told)[];
    const found = events.find((one) => one.reason === "EndpointPutRight" && one.regarding?.name === place.name);
    return found?.note ?? false;
  });
  expect(note).toContain("field manager kubectl-edit had changed it to elsewhere.example.com");
  expect((await client.read(ClusterEndpoint, place))?.spec).toEqual(before.spec);
  const { host, port } = before.spec;
  await eventually(async () =>
    expect((await client.read(Cluster, key))?.spec.controlPlaneEndpoint).toEqual({ host, port }),
  );
});

/** What of an Event is looked at. */
interface Told {
  readonly reason?: string;
  readonly note?: string;
  readonly regarding?: { readonly name?: string };
}

interface Key {
  readonly namespace: string;
  readonly name: string;
}

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
  return { key, shoot };
}

/** Changes nothing that is looked at, so that the control plane is looked at once more. */
const nudge = async ({ client }: ControlPlane, key: Key): Promise<unknown> =>
  await client.patch(refTo(ShootControlPlane, key), { metadata: { labels: { nudge: "1" } } });

const conditionOf = async ({ client }: ControlPlane, key: Key, type: string) =>
  (await client.read(ShootControlPlane, key))?.status?.conditions?.find((one) => one.type === type);
