import { expect, test } from "vitest";
import { COMPOSER, CREATOR } from "../../../src/cluster-api/objects/field-managers.ts";
import { releaseCreation } from "../../../src/cluster-api/shoot/ownership.ts";
import type { JsonPatchOperation, KubeClient } from "../../../src/kube/index.ts";
import { shootOf } from "../../support/cluster-api-objects.ts";

/** Who owns what of a Shoot after the creator of these fields of its spec is released; undefined where nothing is written. */
async function ownersAfter(spec: object): Promise<unknown> {
  let owners: unknown;
  const patch = async (_: unknown, [managers]: readonly JsonPatchOperation[]) => void (owners = managers?.value);
  const managedFields = [{ manager: CREATOR, operation: "Update", fieldsV1: { "f:spec": spec } }];
  const shoot = shootOf("one");
  const owned = { ...shoot, metadata: { ...shoot.metadata, managedFields } };
  await releaseCreation({ patch } as unknown as KubeClient, owned);
  return owners;
}

test("the composer owns all of a Shoot that was made without a Seed", async () => {
  expect(await ownersAfter({ "f:region": {} })).toEqual([
    { manager: CREATOR, operation: "Update", fieldsV1: {} },
    { manager: COMPOSER, operation: "Apply", fieldsV1: { "f:spec": { "f:region": {} } } },
  ]);
});

test("the creator keeps the Seed's name, and nothing is written once it owns that alone", async () => {
  const seed = { "f:seedName": {} };
  expect(await ownersAfter({ "f:region": {}, ...seed })).toEqual([
    { manager: CREATOR, operation: "Update", fieldsV1: { "f:spec": seed } },
    { manager: COMPOSER, operation: "Apply", fieldsV1: { "f:spec": { "f:region": {} } } },
  ]);
  expect(await ownersAfter(seed)).toBeUndefined();
});
