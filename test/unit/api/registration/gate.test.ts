import { expect, test } from "vitest";
import type { ControllerInstallation, ControllerRegistration, Seed, Shoot } from "../../../../src/api/index.ts";
import { describeMissing, missingExtensions } from "../../../../src/api/registration/gate.ts";
import { lackingExtensions } from "../../../../src/api/registration/lacking.ts";
import { registeredOf, type Registered } from "../../../../src/api/registration/registered.ts";

const seed = {
  spec: { provider: { type: "metal" }, dns: { internal: { type: "rfc2136" } }, backup: { provider: "s3" } },
} as unknown as Seed;

const shoot = (extensions: object[] = []) =>
  ({
    spec: { provider: { type: "local", workers: [{ machine: { image: { name: "debian" } } }] }, extensions },
  }) as unknown as Shoot;

const registration = (name: string, resource: object, deployment: object | undefined = { type: "helm" }) =>
  registeredOf({
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "ControllerRegistration",
    metadata: { name },
    spec: { resources: [resource], ...(deployment && { deployment }) },
  } as unknown as ControllerRegistration);

const inDeletion = (registered: Registered): Registered => ({ ...registered, deleting: true });

const at = "2026-01-01T00:00:00Z";
const ready = { Valid: "True", Installed: "True", Healthy: "True", Progressing: "False" };

const installation = (name: string, statuses: Record<string, string>, metadata: object = {}) =>
  ({
    metadata: { name: `${name}-1`, ...metadata },
    spec: { registrationRef: { name }, seedRef: { name: "seed-1" } },
    status: {
      conditions: Object.entries(statuses).map(([type, status]) => ({
        ...{ type, status, reason: "Said", message: `${type} says so`, lastTransitionTime: at, lastUpdateTime: at },
      })),
    },
  }) as unknown as ControllerInstallation;

const infrastructure = { kind: "Infrastructure", type: "local" };

test.each<[string, Record<string, string>, string | undefined]>([
  ["all is well", ready, undefined],
  ["the chart is broken", { ...ready, Valid: "False" }, "not Valid: Valid says so"],
  ["it is not installed", { ...ready, Installed: "False" }, "not Installed: Installed says so"],
  ["it is sick", { ...ready, Healthy: "False" }, "not Healthy: Healthy says so"],
  ["its health is unknown", { ...ready, Healthy: "Unknown" }, "not Healthy: Healthy says so"],
  ["it is being rolled out", { ...ready, Progressing: "True" }, "Progressing: Progressing says so"],
  ["nothing is known", {}, "it is not known whether it is Valid"],
])("where %s, a Shoot waits accordingly", (_, statuses, reason) => {
  const known = {
    registrations: [registration("one", infrastructure)],
    installations: [installation("one", statuses)],
  };
  expect(missingExtensions(shoot(), seed, known)[0]?.reason).toBe(reason);
});

test("a Shoot waits for an installation that is not there yet, and for one that is being removed", () => {
  const registrations = [registration("one", infrastructure)];
  const missing = missingExtensions(shoot(), seed, { registrations, installations: [] });
  expect(missing).toEqual([
    { registration: "one", pairs: ["Infrastructure local"], reason: "there is no ControllerInstallation yet" },
  ]);
  const leaving = installation("one", ready, { deletionTimestamp: at });
  expect(missingExtensions(shoot(), seed, { registrations, installations: [leaving] })).toHaveLength(1);
  const [gone] = missingExtensions(shoot(), seed, { registrations: registrations.map(inDeletion), installations: [] });
  expect(gone?.reason).toBe("its ControllerRegistration is being deleted, so that it is not installed any more");
});

test.each<[string, object, boolean]>([
  ["what it does not need", { kind: "Infrastructure", type: "aws" }, false],
  ["a secondary", { ...infrastructure, primary: false }, false],
  ["the Seed's own provider", { kind: "Worker", type: "metal" }, false],
  ["its name in the Seed's domain", { kind: "DNSRecord", type: "rfc2136" }, true],
  ["its backups", { kind: "BackupEntry", type: "s3" }, true],
  ["an Extension that it enables", { kind: "Extension", type: "audit" }, true],
  ["an Extension that it does not know", { kind: "Extension", type: "other" }, false],
  ["an Extension that all have", { kind: "Extension", type: "other", globallyEnabled: true }, true],
  ["an Extension that it disables", { kind: "Extension", type: "quiet", globallyEnabled: true }, false],
])("whether a Shoot waits for %s", (_, resource, waits) => {
  const known = { registrations: [registration("one", resource)], installations: [] };
  const asking = shoot([{ type: "audit" }, { type: "quiet", disabled: true }]);
  expect(missingExtensions(asking, seed, known)).toHaveLength(waits ? 1 : 0);
});

test("what is registered without a deployment is not waited for, until its operator speaks of it", () => {
  const registrations = [registration("one", infrastructure, {})];
  const waits = (installations: ControllerInstallation[]) =>
    missingExtensions(shoot(), seed, { registrations, installations }).length > 0;
  expect(waits([])).toBe(false);
  expect(waits([installation("one", { Required: "True" })])).toBe(false);
  expect(waits([installation("one", { Installed: "False" })])).toBe(true);
});

test("the sentence names the controllers, what they are for, why and since when", () => {
  const known = {
    registrations: [registration("one", infrastructure)],
    installations: [installation("one", { ...ready, Healthy: "False" })],
  };
  expect(describeMissing(missingExtensions(shoot(), seed, known), "seed-1")).toBe(
    `extensions on Seed seed-1 are not ready: one, needed for Infrastructure local: not Healthy: Healthy says so (since ${at})`,
  );
});

test("a Seed lacks for good what is not installed there and whose registration is being deleted", () => {
  const one = registration("one", infrastructure);
  const lacks = (registered: Registered, ...installations: ControllerInstallation[]) =>
    lackingExtensions(shoot(), seed, { registrations: [registered], installations }).map(({ pairs }) => pairs);
  expect(lacks(inDeletion(one))).toEqual([["Infrastructure local"]]);
  expect(lacks(inDeletion(one), installation("one", ready, { deletionTimestamp: at }))).toHaveLength(1);
  expect(lacks(inDeletion(one), installation("one", {}))).toEqual([]);
  expect(lacks(one)).toEqual([]);
  expect(lacks(inDeletion(registration("one", { kind: "Infrastructure", type: "aws" })))).toEqual([]);
  expect(lacks(inDeletion(registration("one", infrastructure, {})))).toEqual([]);
});
