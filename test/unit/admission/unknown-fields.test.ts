import { expect, test } from "vitest";
import { judge, type AdmissionRequest } from "../../../src/admission/review.ts";
import { createFieldWarner } from "../../../src/admission/unknown-fields.ts";
import { resources } from "../../../src/api/resources.ts";
import type { KubeObject } from "../../../src/api/index.ts";

test.each<[string, object, string]>([
  ["Shoot", { spec: { provider: { workers: [{ name: "a" }, { maxsurge: 1 }] } } }, "spec.provider.workers[1].maxSurge"],
  ["ControllerRegistration", { spec: { deploymnet: {} } }, "spec.deployment"],
  ["ControllerRegistration", { spec: { resources: [{ lifecicle: {} }] } }, "spec.resources[0].lifecycle"],
  ["ControllerDeployment", { helm: { rawchart: "" } }, "helm.rawChart"],
  ["Quota", { spec: { clusterLifetimeDais: 1 } }, "spec.clusterLifetimeDays"],
  ["ExposureClass", { handlr: "a" }, "handler"],
  ["CloudProfile", { spec: { machineTypez: [] } }, "spec.machineTypes"],
  ["NamespacedCloudProfile", { spec: { machineTipes: [] } }, "spec.machineTypes"],
  ["Seed", { spec: { setings: {} } }, "spec.settings"],
  ["Project", { spec: { descripton: "" } }, "spec.description"],
  ["SecretBinding", { secretref: {} }, "secretRef"],
])("a misspelt field of a %s is told, with the one that is spelt alike: %j", async (kind, fields, meant) => {
  const [warning, ...more] = await warningsFor(kind, fields);
  expect(warning).toMatch(/^\S+: unknown field \(did you mean \S+\?\), nothing acts on it$/);
  expect(warning).toContain(`(did you mean ${meant}?)`);
  expect(more).toEqual([]);
});

test("a field that is like no other is told without a guess", async () => {
  expect(await warningsFor("Quota", { spec: { zebra: 1 } })).toEqual(["spec.zebra: unknown field, nothing acts on it"]);
});

test("what providers, users and controllers define themselves has no unknown fields", async () => {
  const workers = [{ labels: { any: "thing" }, providerConfig: { any: { thing: true } } }];
  expect(await warningsFor("Shoot", { spec: { provider: { workers } }, status: { any: "thing" } })).toEqual([]);
});

test("a request that leaves an unknown field as it was is not warned again", async () => {
  const before = { spec: { foo: 1 } };
  expect(await warningsFor("Quota", { spec: { foo: 1, metrics: {} } }, before)).toEqual([]);
  expect(await warningsFor("Quota", { spec: { foo: 2 } }, before)).toHaveLength(1);
});

test("an object of nothing but unknown fields gets a few warnings", async () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`${"x".repeat(2000)}${n}`, n]));
  expect((await warningsFor("Shoot", { spec: many })).join("").length).toBeLessThan(4096);
});

test("the warnings of the webhook itself come first, and a refusal stays what it is", async () => {
  const request = requestFor("Quota", { spec: { zebra: 1 } });
  const warn = createFieldWarner();
  expect(await warn(async () => judge([], ["it is late"]))(request)).toMatchObject({
    warnings: ["it is late", "spec.zebra: unknown field, nothing acts on it"],
  });
  const refusal = judge([{ field: "spec", message: "is odd" }]);
  expect(await warn(async () => refusal)(request)).toEqual(refusal);
});

async function warningsFor(kind: string, fields: object, old?: object): Promise<readonly string[]> {
  const answer = await createFieldWarner()(async () => judge([]))(requestFor(kind, fields, old));
  return answer.allowed ? (answer.warnings ?? []) : [];
}

function requestFor(kind: string, fields: object, old?: object): AdmissionRequest {
  const { group = "", apiVersion = "" } = resources.find((resource) => resource.kind === kind) ?? {};
  const objectOf = (content: object): KubeObject => ({ apiVersion, kind, metadata: { name: "a" }, ...content });
  return {
    uid: "1",
    operation: old ? "UPDATE" : "CREATE",
    kind: { group, version: "v1beta1", kind },
    userInfo: {},
    object: objectOf(fields),
    ...(old && { oldObject: objectOf(old) }),
  };
}
