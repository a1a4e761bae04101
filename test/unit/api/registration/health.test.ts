import { expect, test } from "vitest";
import type { ManagedResource } from "../../../../src/api/index.ts";
import { installationHealth } from "../../../../src/api/registration/health.ts";

type Condition = NonNullable<NonNullable<ManagedResource["status"]>["conditions"]>[number];

const at = "2026-01-01T00:00:00Z";
const applied = (status: Condition["status"], reason: string, message: string): Condition => ({
  ...{ type: "ResourcesApplied", status, reason, message },
  ...{ lastTransitionTime: at, lastUpdateTime: at },
});

/** At generation 2, of which the resource manager has acted on `observedGeneration`. */
const resource = (conditions: readonly Condition[], observedGeneration?: number): ManagedResource => ({
  apiVersion: "resources.gardener.cloud/v1alpha1",
  kind: "ManagedResource",
  metadata: { namespace: "garden", name: "one", generation: 2 },
  spec: { class: "seed", secretRefs: [] },
  status: { conditions: [...conditions], ...(observedGeneration === undefined ? {} : { observedGeneration }) },
});

const installed = (of: ManagedResource | undefined) => installationHealth(of)[0];
const refused = 'error during apply of object "nope.example/v1/Nope/default/one": no matches for kind "Nope"';
const silence = "the seed's gardener-resource-manager has not acted on its latest manifests yet";

test.each<[string, number | undefined]>([
  ["in the first manifests", undefined],
  ["in later ones, of which the resource manager has observed none yet", 1],
])("an object that the API server refuses is named: %s", (_, observed) => {
  expect(installed(resource([applied("False", "ApplyFailed", refused)], observed))).toEqual({
    ...{ type: "Installed", status: "False", reason: "ApplyFailed", message: refused },
  });
});

test("it stays named while the resource manager tries again", () => {
  expect(installed(resource([applied("Progressing", "ApplyFailed", refused)])).message).toBe(refused);
});

test("of what is not applied, the resource manager is not said to be silent", () => {
  const [, healthy, progressing] = installationHealth(resource([applied("False", "ApplyFailed", refused)]));
  expect([healthy.status, progressing.status]).toEqual(["False", "True"]);
  for (const { message } of [healthy, progressing]) expect(message).toBe("its latest manifests are not applied yet");
});

test.each<[string, Condition[], number | undefined]>([
  ["has succeeded", [applied("True", "ApplySucceeded", "All resources are applied.")], 1],
  ["has begun", [applied("Progressing", "ApplyProgressing", "The resources are being reconciled.")], 1],
  ["is new", [applied("Unknown", "ConditionInitialized", "It has been initialized.")], undefined],
])("what the resource manager says of earlier manifests counts for nothing where it %s", (_, conditions, observed) => {
  expect(installed(resource(conditions, observed))).toMatchObject({ status: "False", message: silence });
});

test("manifests that are applied are installed", () => {
  const done = applied("True", "ApplySucceeded", "All resources are applied.");
  expect(installed(resource([done], 2))).toMatchObject({ status: "True", reason: "InstallationSuccessful" });
  expect(installed(undefined)).toMatchObject({ status: "False", message: "its manifests are not in the seed yet" });
});
