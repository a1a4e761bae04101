import { expect, test } from "vitest";
import { carryingLeadership } from "../../../src/activities/leadership/carried-leadership.ts";
import { leadershipOf } from "../../../src/api/extensions/leadership.ts";
import type { KubeObject, Network } from "../../../src/api/index.ts";
import { KubeError, type KubeClient } from "../../../src/kube/index.ts";

const leadership = { record: "leader.example.com", value: "seed-1", leaseSeconds: 60, epoch: 3, shoot: "uid" };
const network: Network = {
  apiVersion: "extensions.gardener.cloud/v1alpha1",
  kind: "Network",
  metadata: { name: "j", namespace: "shoot--dev--j" },
  spec: { type: "calico", podCIDR: "10.0.0.0/16", serviceCIDR: "10.1.0.0/16", leadership },
};

/** A seed of which these kinds have the field; it says what it was sent. */
function seedWith(...kinds: readonly string[]) {
  const sent: KubeObject[] = [];
  const apply = (object: KubeObject) => {
    sent.push(object);
    if (kinds.includes(object.kind) || !JSON.stringify(object["spec"]).includes("leadership"))
      return Promise.resolve(object);
    const message = "cannot apply: failed to create typed patch object: .spec.leadership: field not declared in schema";
    return Promise.reject(new KubeError(message, { status: 500, reason: "", retryable: false }));
  };
  return { sent, client: carryingLeadership({ apply } as unknown as KubeClient) };
}

test("who may act stands in spec.leadership where the definition has that field", async () => {
  const { sent, client } = seedWith("Network");
  expect(await client.apply(network)).toEqual(network);
  expect(sent).toHaveLength(1);
});

test("who may act stands in an annotation where the definition is Gardener's own, and is read there", async () => {
  const { sent, client } = seedWith();
  const applied = await client.apply(network);
  expect(applied.spec).not.toHaveProperty("leadership");
  expect(leadershipOf(applied)).toEqual(leadership);
  await client.apply(network);
  expect(sent).toHaveLength(3); // the second one is not tried in vain
});

test("another error of an API server is no reason to write anything else", async () => {
  const error = new KubeError("cannot apply: .spec.podCIDR: field not declared in schema", {
    status: 500,
    reason: "",
    retryable: false,
  });
  const client = carryingLeadership({ apply: () => Promise.reject(error) } as unknown as KubeClient);
  await expect(client.apply(network)).rejects.toBe(error);
});

test("what cannot be read is not taken for an object that every controller may act on", () => {
  const annotated = (text: string) => ({
    metadata: { name: "j", annotations: { "perennial.dev/leadership": text } },
    spec: {},
  });
  expect(() => leadershipOf(annotated("{"))).toThrow("perennial.dev/leadership");
  expect(() => leadershipOf(annotated('{"record":"leader.example.com"}'))).toThrow();
  expect(leadershipOf({ metadata: { name: "j" }, spec: {} })).toBeUndefined();
});
