import { expect, test } from "vitest";
import type { ControllerRegistration, Seed, Shoot } from "../../../../src/api/index.ts";
import { usesMachineManager } from "../../../../src/api/registration/machine-manager.ts";
import { registeredOf } from "../../../../src/api/registration/registered.ts";

const key = "perennial.dev/machine-controller-manager";
const seed = (annotations: Record<string, string> = {}) =>
  ({ metadata: { name: "seed-1", annotations }, spec: { provider: { type: "metal" }, dns: {} } }) as unknown as Seed;
const shoot = (annotations: Record<string, string> = {}, workers: readonly object[] = [{ name: "a" }]) =>
  ({
    metadata: { name: "s", annotations },
    spec: {
      provider: {
        type: "local",
        workers: workers.map((one) => ({ machine: { image: { name: "debian" } }, ...one })),
      },
    },
  }) as unknown as Shoot;
const registered = (deployment: object | undefined, annotations: Record<string, string> = {}, resource: object = {}) =>
  registeredOf({
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "ControllerRegistration",
    metadata: { name: "provider", annotations },
    spec: { resources: [{ kind: "Worker", type: "local", ...resource }], ...(deployment && { deployment }) },
  } as unknown as ControllerRegistration);

const helm = { type: "helm" };
const byReference = { deploymentRefs: [{ name: "provider" }] };

test.for([
  ["from a chart in its registration", registered(helm), true],
  ["from a ControllerDeployment", registered(byReference), true],
  ["by an operator", registered({ type: "operator" }), false],
  ["by other hands, as the built-in one is", registered(undefined), false],
  ["from a chart, and says that it makes machines itself", registered(helm, { [key]: "false" }), false],
  ["from a chart, for another provider", registered(helm, {}, { type: "aws" }), false],
  ["from a chart, and only looks on", registered(helm, {}, { primary: false }), false],
  ["from a chart, for another kind", registered(helm, {}, { kind: "Infrastructure" }), false],
] as const)(
  "where the Worker's extension is installed %s, machine-controller-manager makes machines: %j",
  ([, one, expected]) => {
    expect(usesMachineManager(shoot(), seed(), [one])).toBe(expected);
  },
);

test("it makes them, too, where the Shoot or its Seed asks for it, but for a Shoot that has no workers", () => {
  const asked = { [key]: "true" };
  expect(usesMachineManager(shoot(asked), seed(), [])).toBe(true);
  expect(usesMachineManager(shoot(), seed(asked), [])).toBe(true);
  expect(usesMachineManager(shoot({ [key]: "false" }), seed(), [])).toBe(false);
  expect(usesMachineManager(shoot(asked, []), seed(asked), [registered(helm)])).toBe(false);
});
