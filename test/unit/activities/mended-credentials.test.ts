import { expect, test } from "vitest";
import { withMendedCredentials } from "../../../src/activities/extensions/mended-credentials.ts";
import type { AppliedKind } from "../../../src/api/extensions/kinds.ts";
import { shootRun } from "../../support/shoot-run.ts";

const none = { list: async () => [], copyReferences: async () => {}, copyDns: async () => {} };
const failed = { status: { lastError: { description: "no such user" }, lastOperation: { state: "Error" } } };
const begun = { status: { lastOperation: { state: "Processing" } } };

test("a deletion goes on where the credentials are gone, and by force without a look at them", async () => {
  let copies = 0;
  const ask = withMendedCredentials(
    {
      ...none,
      seen: (ref) => ({ ...ref, metadata: { name: ref.name }, ...failed }),
      copy: () => ((copies += 1), Promise.reject(new Error("there is no Secret"))),
    },
    async () => [],
  );
  const run = shootRun({ hasCredentials: true });
  await expect(ask({ ...run, operation: "Delete" }, "Infrastructure", "removal")).resolves.toEqual([]);
  await expect(ask({ ...run, operation: "Reconcile" }, "Infrastructure", "step")).rejects.toThrow("no Secret");
  expect(copies).toBe(2);
  await expect(ask({ ...run, operation: "Delete", forced: true }, "Worker", "removal")).resolves.toEqual([]);
  expect(copies).toBe(2);
});

test.for<[string, AppliedKind, object | undefined, boolean, boolean]>([
  ["whose controller has failed", "Infrastructure", failed, true, true],
  ["that is being deleted, and whose controller has failed", "Worker", failed, true, true],
  ["whose controller is at work", "Infrastructure", begun, true, false],
  ["that is not there yet", "Infrastructure", undefined, true, false],
  ["that has credentials of its own", "DNSRecord", failed, true, false],
  ["of a Shoot without credentials", "ControlPlane", failed, false, false],
])("credentials are copied anew before an object %s is asked again: %s", async ([, kind, object, has, expected]) => {
  const happened: string[] = [];
  const run = shootRun({ hasCredentials: has });
  const ask = withMendedCredentials(
    {
      ...none,
      seen: (ref) => object && { ...ref, metadata: { name: ref.name }, ...object },
      copy: async () => void happened.push("copied"),
    },
    async (...asked) => {
      expect(asked).toEqual([run, kind, "step", undefined]);
      happened.push("asked");
      return [];
    },
  );
  await ask(run, kind, "step");
  expect(happened).toEqual(expected ? ["copied", "asked"] : ["asked"]);
});

test.for<[string, AppliedKind, object, boolean]>([
  ["that is found by the Shoot's name, and whose controller has failed", "Network", failed, true],
  ["of which there are several, and whose controller has failed", "ContainerRuntime", failed, true],
  ["whose controller is at work", "Extension", begun, false],
  ["that names none", "BackupEntry", failed, false],
])("what a Shoot names for its extensions is copied anew before an object %s is asked again: %s", async (row) => {
  const [, kind, object, expected] = row;
  let copies = 0;
  const one = { apiVersion: "extensions.gardener.cloud/v1alpha1", kind, metadata: { name: "one" }, ...object };
  const ask = withMendedCredentials(
    {
      ...none,
      copy: async () => {},
      seen: () => (kind === "Network" ? one : undefined),
      list: async () => [{ ...one, status: {} }, one],
      copyReferences: async () => void (copies += 1),
    },
    async () => [],
  );
  await ask(shootRun({ hasCredentials: false, hasReferences: true }), kind, "step");
  expect(copies).toBe(expected ? 1 : 0);
  await ask(shootRun({ hasCredentials: false }), kind, "step");
  expect(copies).toBe(expected ? 1 : 0);
});
