import { expect, test } from "vitest";
import type { ControllerRegistration, Seed, Shoot } from "../../../../src/api/index.ts";
import { registeredOf } from "../../../../src/api/registration/registered.ts";
import { usesResourceManager } from "../../../../src/api/registration/resource-manager.ts";

const annotation = "perennial.dev/resource-manager";
const of = (annotations: object = {}) => ({
  metadata: { annotations },
  spec: { provider: { type: "local" }, dns: {} },
});
const infrastructure = { kind: "Infrastructure", type: "local" };

const registration = (deployment: object | undefined, resource: object = infrastructure, annotations: object = {}) =>
  registeredOf({
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "ControllerRegistration",
    metadata: { name: "one", annotations },
    spec: { resources: [resource], ...(deployment && { deployment }) },
  } as unknown as ControllerRegistration);

const byReference = { deploymentRefs: [{ name: "one" }] };
const refuses = { [annotation]: "false" };

test.each([
  ["nothing is registered", [], false],
  ["an extension of the Shoot is installed from a chart", [registration(byReference)], true],
  ["its chart is in the registration", [registration({ type: "helm" })], true],
  ["an operator installs it", [registration({ type: "vlan" })], false],
  ["it runs beside the environment", [registration(undefined)], false],
  ["its registration says that it needs none", [registration(byReference, infrastructure, refuses)], false],
  ["it is for another type", [registration(byReference, { kind: "Infrastructure", type: "aws" })], false],
  ["it only watches", [registration(byReference, { ...infrastructure, primary: false })], false],
])("where %s, a Shoot has a resource manager accordingly", (_, registrations, expected) => {
  const shoot = { ...of(), spec: { provider: { type: "local", workers: [{ machine: { image: { name: "x" } } }] } } };
  expect(usesResourceManager(shoot as unknown as Shoot, of() as unknown as Seed, registrations)).toBe(expected);
});

test.each([
  ["the Shoot asks for it", { [annotation]: "true" }, {}, true],
  ["its Seed asks for it", {}, { [annotation]: "true" }, true],
  ["neither does", refuses, {}, false],
])("where %s, a Shoot without extensions has a resource manager accordingly", (_, ofShoot, ofSeed, expected) => {
  expect(usesResourceManager(of(ofShoot) as unknown as Shoot, of(ofSeed) as unknown as Seed, [])).toBe(expected);
});
