import { beforeEach, describe, expect } from "vitest";
import { removeAnnotated } from "../../src/activities/teardown/removal.ts";
import { ConfigMap, Namespace, refOf, refTo, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { test as base } from "../support/cluster-test.ts";

const test = base.extend("client", async ({ cluster }) => cluster.client);
const metadata = { namespace: "shoot--dev--removal", name: "held" };
const ref = refTo(ConfigMap, metadata);
const annotations = { asked: "for" };

const make = (client: KubeClient): Promise<ConfigMap> =>
  client.create<ConfigMap>({ ...typeMeta(ConfigMap), metadata: { ...metadata, finalizers: ["test.example/held"] } });

async function forget(client: KubeClient): Promise<void> {
  const held = await client.read(ref);
  if (held === undefined) return;
  await client.patch(ref, { metadata: { finalizers: null } });
  await client.remove(ref);
}

describe("the removal of an object that was read", () => {
  let former: ConfigMap;

  beforeEach<{ client: KubeClient }>(async ({ client }) => {
    await client.apply({ ...typeMeta(Namespace), metadata: { name: metadata.namespace } });
    await forget(client);
    former = await make(client);
  });

  test("annotates it and deletes it", async ({ client }) => {
    await removeAnnotated(client, former, annotations);
    expect((await client.read(ref))?.metadata).toMatchObject({
      annotations,
      deletionTimestamp: expect.any(String) as string,
    });
  });

  test("succeeds where it is gone", async ({ client }) => {
    await forget(client);
    await removeAnnotated(client, former, annotations);
    expect(await client.read(ref)).toBeUndefined();
  });

  test("leaves another one alone that has come by its name, and reports it", async ({ client }) => {
    await forget(client);
    const later = await make(client);
    await expect(removeAnnotated(client, former, annotations)).rejects.toThrow(
      "cannot delete ConfigMap shoot--dev--removal/held: it is gone, and another one has come by its name",
    );
    expect(await client.read(refOf(later))).toEqual(later);
  });
});
