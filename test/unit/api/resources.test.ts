import { expect, test } from "vitest";
import { isNonRetryable, ManagedResource, resources, Shoot } from "../../../src/api/index.ts";
import { exampleObjects } from "../../support/examples.ts";
import { furtherExamples } from "../../support/extension-examples.ts";

const shoot = {
  apiVersion: "core.gardener.cloud/v1beta1",
  kind: "Shoot",
  metadata: { name: "a", namespace: "garden-dev", future: 1 },
  spec: {
    region: "local",
    kubernetes: { version: "1.34.4", future: { a: 1 } },
    provider: { type: "local", workers: [{ name: "w", minimum: 1, maximum: 1, machine: { type: "l" }, future: [1] }] },
  },
  future: true,
};

test("fields that we do not know survive parsing, at any depth", () => {
  expect(Shoot.parse(shoot)).toEqual(shoot);
});

test("words that a newer writer knows do not make an object unreadable", () => {
  const lastOperation = { type: "LiveMigrate", state: "New", progress: 1, description: "", lastUpdateTime: "" };
  const newer = { ...shoot, status: { lastOperation, lastErrors: [{ description: "", codes: ["ERR_NEW"] }] } };
  expect(Shoot.parse(newer)).toEqual(newer);
});

test("parsing says which field is wrong", () => {
  expect(() => Shoot.parse({ ...shoot, spec: { ...shoot.spec, region: 1 } })).toThrow(/region/);
});

test("an object of another kind is not taken for a Shoot", () => {
  expect(Shoot.schema.safeParse({ ...shoot, kind: "Seed" }).success).toBe(false);
});

test("there is a valid example of every kind", async () => {
  const examples = [...(await exampleObjects()), ...furtherExamples];
  for (const resource of resources) {
    const example = examples.find((o) => o.kind === resource.kind && o.apiVersion === resource.apiVersion);
    expect(() => resource.parse(example), resource.kind).not.toThrow();
  }
});

test("rate limits are retried, wrong credentials are not", () => {
  expect(isNonRetryable("ERR_INFRA_RATE_LIMITS_EXCEEDED")).toBe(false);
  expect(isNonRetryable("ERR_INFRA_UNAUTHORIZED")).toBe(true);
  expect(isNonRetryable("ERR_SOMETHING_ELSE")).toBe(false);
});

test("a ManagedResource without a Secret to apply is none", () => {
  const managed = {
    apiVersion: "resources.gardener.cloud/v1alpha1",
    kind: "ManagedResource",
    metadata: { name: "extension-calico", namespace: "garden" },
    spec: { class: "seed", secretRefs: [{ name: "extension-calico" }], equivalences: [] },
  };
  expect(ManagedResource.parse(managed)).toEqual(managed);
  expect(() => ManagedResource.parse({ ...managed, spec: { class: "seed" } })).toThrow(/secretRefs/);
});
