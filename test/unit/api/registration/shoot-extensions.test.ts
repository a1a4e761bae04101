import { expect, test } from "vitest";
import type { ControllerRegistration, Shoot } from "../../../../src/api/index.ts";
import { registeredOf } from "../../../../src/api/registration/registered.ts";
import { extensionsOf } from "../../../../src/api/registration/shoot-extensions.ts";

const shoot = (extensions: object[] = [], workers: object[] = [{ name: "one" }]) =>
  ({ spec: { provider: { type: "local", workers }, extensions } }) as unknown as Shoot;

const registration = (name: string, resource: object, metadata: object = {}) =>
  registeredOf({
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "ControllerRegistration",
    metadata: { name, ...metadata },
    spec: { resources: [{ kind: "Extension", ...resource }] },
  } as unknown as ControllerRegistration);

const usual = { reconcile: "AfterKubeAPIServer", delete: "BeforeKubeAPIServer", migrate: "BeforeKubeAPIServer" };

test.each<[string, object, object[], boolean]>([
  ["that its spec asks for", {}, [{ type: "dns" }], true],
  ["that it neither asks for nor refuses", {}, [], false],
  ["that every Shoot has", { autoEnable: ["shoot"] }, [], true],
  ["that every Shoot has, in seed 001's words", { globallyEnabled: true }, [], true],
  ["that every Seed has", { autoEnable: ["seed"] }, [], false],
  ["that every Shoot has and it refuses", { autoEnable: ["shoot"] }, [{ type: "dns", disabled: true }], false],
  ["that is for Seeds alone", { clusterCompatibility: ["seed"] }, [{ type: "dns" }], false],
  ["of a controller that only watches", { primary: false, autoEnable: ["shoot"] }, [], false],
])("a Shoot and an Extension %s", (_, resource, asked, has) => {
  const types = extensionsOf(shoot(asked), [registration("dns", { type: "dns", ...resource })]);
  expect(types.map(({ type }) => type)).toEqual(has ? ["dns"] : []);
});

test("a Shoot without workers has only the Extensions that say that they support it", () => {
  const both = [
    registration("one", { type: "one", autoEnable: ["shoot"] }),
    registration("two", { type: "two", autoEnable: ["shoot"], workerlessSupported: true }),
  ];
  expect(extensionsOf(shoot([{ type: "one" }], []), both)).toEqual([{ type: "two", ...usual }]);
});

test("an Extension acts when its registration says, and has the time that it says", () => {
  const said = { reconcile: "AfterWorker", delete: "AfterKubeAPIServer" };
  const registered = [registration("one", { type: "one", lifecycle: said, reconcileTimeout: "1m30s" })];
  expect(extensionsOf(shoot([{ type: "one" }]), registered)).toEqual([
    { type: "one", ...usual, ...said, deadline: 90_000 },
  ]);
});

test("of two registrations that say that they are primary, the older one says when an Extension acts", () => {
  const registered = [
    registration("new", { type: "one", lifecycle: { reconcile: "AfterWorker" } }, { creationTimestamp: "2026-02-01" }),
    registration("old", { type: "one" }, { creationTimestamp: "2026-01-01" }),
  ];
  for (const listed of [registered, registered.toReversed()])
    expect(extensionsOf(shoot([{ type: "one" }]), listed)).toEqual([{ type: "one", ...usual }]);
});

test("an Extension that a Shoot asks for stays while its registration is away", () => {
  expect(extensionsOf(shoot([{ type: "one" }, { type: "two", disabled: true }]), [])).toEqual([
    { type: "one", ...usual },
  ]);
});
