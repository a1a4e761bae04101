import { expect, test } from "vitest";
import { extensionNeeds } from "../../../src/admission/shoot/extension-needs.ts";
import { extensionLabelPatch } from "../../../src/admission/shoot/extension-labels.ts";
import type { ControllerRegistration, Shoot } from "../../../src/api/index.ts";
import { createRegistrations, type Registrations } from "../../../src/admission/shoot/registrations.ts";
import type { KubeClient } from "../../../src/kube/index.ts";

const shoot = (spec: Partial<Shoot["spec"]>): Shoot => ({
  apiVersion: "core.gardener.cloud/v1beta1",
  kind: "Shoot",
  metadata: { name: "local", namespace: "garden-dev" },
  spec: { region: "local", kubernetes: {}, provider: { type: "local" }, ...spec } as Shoot["spec"],
});

/** A garden that has these registrations and nothing else. */
const gardenWith = (...resources: Resources) => createRegistrations(clientOf(() => resources));

const clientOf = (resources: () => Resources) =>
  ({ list: async () => [{ metadata: { name: "one" }, spec: { resources: resources() } }] }) as unknown as KubeClient;

type Resources = NonNullable<ControllerRegistration["spec"]["resources"]>;

/** What is warned of in such a garden. */
const warningsIn = async (garden: Registrations, one: Shoot) => (await extensionNeeds(garden, { shoot: one })).warnings;

const workers = [
  { name: "w", minimum: 1, maximum: 1, machine: { type: "l", image: { name: "linux" } } },
] as unknown as NonNullable<Shoot["spec"]["provider"]["workers"]>;
const withWorkers = shoot({
  provider: { type: "local", workers },
  networking: { type: "calico" },
  extensions: [{ type: "registry-cache" }, { type: "off", disabled: true }],
});

test("a Shoot with workers needs its provider's kinds, its network, its machines' images and its extensions", async () => {
  expect((await warningsIn(gardenWith(), withWorkers)).toSorted()).toEqual(
    [
      ["ControlPlane", "local"],
      ["Extension", "registry-cache"],
      ["Infrastructure", "local"],
      ["Network", "calico"],
      ["OperatingSystemConfig", "linux"],
      ["Worker", "local"],
    ].map(([kind, type]) => `no ControllerRegistration is in charge of ${kind} of type ${type}`),
  );
});

test("a Shoot without workers needs its extensions only", async () => {
  const workerless = shoot({ extensions: [{ type: "registry-cache" }], networking: { type: "calico" } });
  expect(await warningsIn(gardenWith(), workerless)).toEqual([
    "no ControllerRegistration is in charge of Extension of type registry-cache",
  ]);
});

test("a registration that is not primary for a kind and type is not in charge of it", async () => {
  const offers = (primary: boolean) => gardenWith({ kind: "Network", type: "calico", primary });
  expect(await warningsIn(offers(true), withWorkers)).not.toContain(network);
  expect(await warningsIn(offers(false), withWorkers)).toContain(network);
});

test("a new need is refused where others of its kind are registered, and an old one is not", async () => {
  const garden = gardenWith({ kind: "Network", type: "cilium" });
  const { causes, warnings } = await extensionNeeds(garden, { shoot: withWorkers });
  expect(causes).toEqual([{ field: "spec", message: network }]);
  expect(warnings).not.toContain(network);
  const kept = await extensionNeeds(garden, { shoot: withWorkers, old: withWorkers });
  expect(kept.causes).toEqual([]);
  expect(kept.warnings).toContain(network);
});

const network = "no ControllerRegistration is in charge of Network of type calico";

test("a Shoot is judged by the registrations that it was defaulted by, but not refused by old ones", async () => {
  let time = 0;
  let lists = 0;
  let resources: Resources = [{ kind: "Network", type: "calico" }];
  const client = clientOf(() => {
    lists += 1;
    return resources;
  });
  const registrations = createRegistrations(client, () => time);
  const causes = async () => (await extensionNeeds(registrations, { shoot: withWorkers })).causes;
  await extensionLabelPatch(registrations, withWorkers);
  expect(await causes()).toEqual([]);
  expect(lists).toBe(1);
  resources = [{ kind: "Network", type: "cilium" }];
  time = 1_999;
  expect(await causes()).toEqual([]);
  time = 2_000;
  expect(await causes()).toEqual([{ field: "spec", message: network }]);
  resources = [{ kind: "Network", type: "calico" }];
  expect(await causes()).toEqual([]);
});

test("a garden that did not answer is asked again", async () => {
  const answers = [Promise.reject(new Error("away")), Promise.resolve([])];
  const registrations = createRegistrations({ list: () => answers.shift() } as unknown as KubeClient, () => 0);
  await expect(registrations.now()).rejects.toThrow("away");
  expect(await registrations.lately()).toEqual([]);
});
