import { expect, test } from "vitest";
import type { KubeObject } from "../../../src/api/index.ts";
import { droppedParts, toRegistrations } from "../../../src/cli/report/extension-file.ts";

const operatorExtension = (extension: object | undefined) =>
  ({
    apiVersion: "operator.gardener.cloud/v1alpha1",
    kind: "Extension",
    metadata: { name: "networking-calico", annotations: { some: "thing" } },
    spec: {
      resources: [{ kind: "Network", type: "calico", primary: true }],
      deployment: { admission: { runtimeCluster: {} }, ...(extension && { extension }) },
    },
  }) as unknown as KubeObject;

test("a file of upstream's operator becomes a deployment and the registration that refers to it", () => {
  const helm = { ociRepository: { ref: "example.org/charts/calico:v1" } };
  const extension = {
    helm,
    values: { a: 1 },
    policy: "Always",
    injectGardenKubeconfig: true,
    runtimeClusterValues: { b: 2 },
  };
  expect(toRegistrations([operatorExtension(extension)])).toEqual([
    {
      apiVersion: "core.gardener.cloud/v1beta1",
      kind: "ControllerDeployment",
      metadata: { name: "networking-calico" },
      helm: { ociRepository: { ref: "example.org/charts/calico:v1" }, values: { a: 1 } },
      injectGardenKubeconfig: true,
    },
    {
      apiVersion: "core.gardener.cloud/v1beta1",
      kind: "ControllerRegistration",
      metadata: { name: "networking-calico" },
      spec: {
        resources: [{ kind: "Network", type: "calico", primary: true }],
        deployment: { deploymentRefs: [{ name: "networking-calico" }], policy: "Always" },
      },
    },
  ]);
});

test("the admission of an Extension of upstream's operator is said to be left out, and of others nothing", () => {
  expect(droppedParts([operatorExtension({}), { kind: "ControllerRegistration" }])).toEqual([
    "spec.deployment.admission of Extension networking-calico is left out: install it yourself",
  ]);
  const { spec, ...others } = operatorExtension({});
  const { admission, ...deployment } = (spec as { deployment: { admission: object } }).deployment;
  expect(admission).toBeDefined();
  expect(droppedParts([{ ...others, spec: { deployment } }])).toEqual([]);
});

test("today's ControllerDeployment and ControllerRegistration are taken in the version that is stored", () => {
  const objects = [
    { apiVersion: "core.gardener.cloud/v1", kind: "ControllerDeployment", metadata: { name: "one" }, helm: {} },
    { apiVersion: "core.gardener.cloud/v1beta1", kind: "ControllerRegistration", metadata: { name: "one" }, spec: {} },
  ];
  expect(toRegistrations(objects).map(({ apiVersion }) => apiVersion)).toEqual(
    Array(2).fill("core.gardener.cloud/v1beta1"),
  );
});

test.each([[["text"]], [[{ kind: "ControllerRegistration" }]], [[{ apiVersion: "v1", kind: "X", metadata: null }]]])(
  "a document that is no object is said to be none: %j",
  (documents) => {
    expect(() => toRegistrations(documents)).toThrow("document 1 is no object: apiVersion, kind or metadata.name");
  },
);

test("anything else in the file is refused by name", () => {
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "keys" } };
  expect(() => toRegistrations([secret])).toThrow("Secret keys of v1 is no registration of an extension");
  expect(() => toRegistrations([operatorExtension(undefined)])).toThrow(
    "Extension networking-calico has no chart for seeds",
  );
});
