import { describe, expect, expectTypeOf, test } from "vitest";
import { Cluster, Infrastructure, Shoot } from "../../../src/api/index.ts";
import * as kubernetesKinds from "../../../src/kube/kinds.ts";
import * as rbacKinds from "../../../src/kube/rbac-kinds.ts";
import { Namespace, refTo, Secret, typeMeta, type KubeClient, type ObjectRef } from "../../../src/kube/index.ts";

// Never called: what is checked is that it compiles, and that each line marked so does not.
async function read(client: KubeClient) {
  const key = { namespace: "shoot--dev--one", name: "one" };
  const [first] = await client.list(Shoot, { namespace: "garden-dev" });
  // @ts-expect-error -- a namespaced kind asks for a namespace
  await client.read(Infrastructure, { name: "one" });
  // @ts-expect-error -- a cluster-scoped kind has none to give
  await client.read(Cluster, key);
  // @ts-expect-error -- nor in a list
  await client.list(Namespace, { namespace: "garden" });
  // @ts-expect-error -- nor in a reference
  refTo(Namespace, key);
  const seed: ObjectRef<Cluster> = refTo(Cluster, { name: "one" });
  // @ts-expect-error -- a reference to one kind is none to another
  const shoot: ObjectRef<Shoot> = seed;
  return { infrastructure: await client.read(Infrastructure, key), seed: await client.read(seed), first, shoot };
}

test("what is read is of the type that the kind says", () => {
  expectTypeOf(read).returns.resolves.toExtend<{
    infrastructure: Infrastructure | undefined;
    seed: Cluster | undefined;
    first: Shoot | undefined;
  }>();
});

describe("a kind of Kubernetes", () => {
  const all = Object.entries({ ...kubernetesKinds, ...rbacKinds }).filter(([, kind]) => typeof kind === "object");

  test.each(all)("%s is exported under its own name", (name, kind) => {
    expect(kind).toMatchObject({ kind: name, scope: expect.stringMatching(/^(Namespaced|Cluster)$/) });
  });

  test("is named in a reference and in an object by nothing more than is asked for", () => {
    const key = { namespace: "garden", name: "backup", labels: {} };
    expect(refTo(Secret, key)).toEqual({ apiVersion: "v1", kind: "Secret", namespace: "garden", name: "backup" });
    expect(refTo(Shoot, key)).toEqual({
      ...{ apiVersion: "core.gardener.cloud/v1beta1", kind: "Shoot" },
      ...{ namespace: "garden", name: "backup" },
    });
    expect(typeMeta(Cluster)).toEqual({ apiVersion: "extensions.gardener.cloud/v1alpha1", kind: "Cluster" });
  });
});
