import { expect, test } from "vitest";
import type { Seed } from "../../../../src/api/index.ts";
import { seedHash } from "../../../../src/api/registration/told.ts";
import { exampleContext } from "../../../support/control-plane-context.ts";

const { seed } = exampleContext();
const before = seedHash(seed);

test.each<[string, Partial<Seed>]>([
  ["its labels", { metadata: { ...seed.metadata, labels: { stage: "live" } } }],
  ["its annotations", { metadata: { ...seed.metadata, annotations: { stage: "live" } } }],
  ["its spec", { spec: { ...seed.spec, provider: { ...seed.spec.provider, zones: ["z"] } } }],
  ["its cluster's identity", { status: { clusterIdentity: "other" } }],
  ["its version of Kubernetes", { status: { kubernetesVersion: "v1.35.0" } }],
])("charts are installed anew in a Seed that changes %s", (_, change) => {
  expect(seedHash({ ...seed, ...change })).not.toBe(before);
});

test.each<[string, Partial<Seed>]>([
  ["kubectl's copy of it", { metadata: { ...seed.metadata, annotations: { "kubectl.kubernetes.io/x": "{}" } } }],
  ["its conditions", { status: { conditions: [] } }],
])("they are not for %s", (_, change) => {
  expect(seedHash({ ...seed, ...change })).toBe(before);
});
