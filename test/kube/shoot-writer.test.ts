import { expect } from "vitest";
import { Shoot } from "../../src/api/index.ts";
import { composeShoot, type Composed, type Ingredients } from "../../src/cluster-api/shoot/compose.ts";
import { COMPOSER, CREATOR } from "../../src/cluster-api/objects/field-managers.ts";
import { createShootWriter } from "../../src/cluster-api/shoot/write.ts";
import { Namespace, refTo, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { clusterOf, controlPlaneOf, poolOf } from "../support/cluster-api-objects.ts";
import { test } from "../support/cluster-test.ts";

const namespace = "garden-dev";

test.for([1, 2, 3])(
  "a writer that dies after %i of its writes leaves a Shoot that the next one makes the same, and whose row goes with its pool",
  async (writes, { cluster: { client } }) => {
    await client.apply({ ...typeMeta(Namespace), metadata: { name: namespace } });
    const [whole, killed] = [{ name: `whole-${writes}` }, { name: `killed-${writes}` }];
    for (const { name } of [whole, killed]) await client.remove(refTo(Shoot, { namespace, name }));
    const write = async (writer: KubeClient, name: string, o: Partial<Ingredients> = {}) =>
      await createShootWriter(writer).write(compose(name, o), await read(client, name), { adopts: false });

    await write(client, whole.name);
    await expect(write(dyingAfter(client, writes), killed.name)).rejects.toThrow("has died");
    expect(await read(client, killed.name), "the first write").toBeDefined();
    const before = await read(client, killed.name);
    await write(client, killed.name);
    expect(ownersOf(await read(client, killed.name))).toEqual(ownersOf(await read(client, whole.name)));
    expect((await read(client, killed.name))?.metadata.uid).toBe(before?.metadata.uid);

    const present = await read(client, killed.name);
    await write(client, killed.name, { pools: [poolOf(killed.name, "a")], leaving: ["b"], present });
    const { workers = [] } = (await read(client, killed.name))?.spec.provider ?? {};
    expect(workers.map(({ name }) => name)).toEqual(["a"]);
  },
);

test("a pool that leaves while the writer is dead takes its row along", async ({ cluster: { client } }) => {
  const name = "late";
  await client.apply({ ...typeMeta(Namespace), metadata: { name: namespace } });
  const dying = createShootWriter(dyingAfter(client, 1));
  await expect(dying.write(compose(name), undefined, { adopts: false })).rejects.toThrow("has died");
  const present = await read(client, name);
  const wanted = compose(name, { pools: [poolOf(name, "a")], leaving: ["b"], present });
  await createShootWriter(client).write(wanted, present, { adopts: false });
  const { workers = [] } = (await read(client, name))?.spec.provider ?? {};
  expect(workers.map((row) => row.name)).toEqual(["a"]);
});

/** What pools a and b make, unless told otherwise, of a Cluster of this name. */
function compose(name: string, o: Partial<Ingredients> = {}): Composed {
  const cluster = clusterOf(name);
  const controlPlane = controlPlaneOf(name);
  const own = { ...controlPlane, metadata: { ...controlPlane.metadata, uid: `uid-of-${name}` } };
  const pools = [poolOf(name, "a"), poolOf(name, "b")];
  const composition = composeShoot({ cluster, controlPlane: own, pools, key: { namespace, name }, ...o });
  if ("obstacle" in composition) throw new Error(composition.obstacle.message);
  return composition.shoot;
}

const read = async (client: KubeClient, name: string) => await client.read(Shoot, { namespace, name });

/** A client of a process that dies as soon as so many of its writes were answered. */
function dyingAfter(client: KubeClient, writes: number): KubeClient {
  let count = 0;
  const mortal = async <T>(write: Promise<T>): Promise<T> => {
    const answer = await write;
    if ((count += 1) >= writes) throw new Error("the process has died");
    return answer;
  };
  return {
    ...client,
    create: (object, o) => mortal(client.create(object, o)),
    apply: (object, o) => mortal(client.apply(object, o)),
    patch: (ref, patch, o) => mortal(client.patch(ref, patch, o)),
  };
}

/** The fields that our managers own, without the times at which they came by them. */
const ownersOf = (shoot: Shoot | undefined): unknown =>
  shoot?.metadata.managedFields
    ?.map(({ manager, operation, fieldsV1 }: Raw) => ({ manager, operation, fieldsV1 }))
    .filter(({ manager }) => [COMPOSER, CREATOR].includes(String(manager)));

type Raw = Readonly<Record<string, unknown>>;
