import { expect, test } from "vitest";
import { createOwners } from "../../../src/worker/mirror/owner.ts";
import type { KubeClient } from "../../../src/kube/index.ts";

const name = "shoot--dev--a";
const identity = { namespace: "garden-dev", name: "a", uid: "1" };
const shoot = { metadata: identity, status: { leadership: { seed: "seed-1", epoch: 1 } } };

/** Whose the namespace is, where these objects are there; a client answers with the object of a kind. */
async function ownership(objects: Readonly<Record<string, object | undefined>>): Promise<string> {
  const present: typeof objects = {
    Namespace: { metadata: { name } },
    Cluster: { spec: { shoot } },
    Shoot: shoot,
    ...objects,
  };
  const client = { read: async ({ kind }: { kind: string }) => present[kind] } as unknown as KubeClient;
  return (await createOwners({ gardenClient: client, seedClient: client, seedName: "seed-1" })(name)).is;
}

test.each([
  ["ours", "that leads its Shoot", {}],
  [
    "gone",
    "where it is being deleted",
    { Namespace: { metadata: { name, deletionTimestamp: "2026-01-01T00:00:00Z" } } },
  ],
  ["gone", "where it is no more", { Namespace: undefined }],
  ["unknown", "where nothing says whose it is", { Cluster: undefined }],
  ["another's", "whose Shoot has gone", { Shoot: undefined }],
  ["another's", "whose Shoot has been made anew", { Shoot: { ...shoot, metadata: { ...identity, uid: "2" } } }],
  [
    "another's",
    "that another leads now",
    { Shoot: { ...shoot, status: { leadership: { seed: "seed-2", epoch: 2 } } } },
  ],
  [
    "another's",
    "that is of an earlier epoch",
    { Shoot: { ...shoot, status: { leadership: { seed: "seed-1", epoch: 2 } } } },
  ],
])("a Shoot's namespace is %s for a seed %s", async (is, _, objects) => {
  expect(await ownership(objects)).toBe(is);
});
