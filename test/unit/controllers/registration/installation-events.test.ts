import { expect, test } from "vitest";
import type { ControllerInstallation } from "../../../../src/api/index.ts";
import { occurrencesOf } from "../../../../src/controllers/registration/installation-events.ts";

type Condition = NonNullable<NonNullable<ControllerInstallation["status"]>["conditions"]>[number];

const at = "2026-01-01T00:00:00Z";
const said = (type: string, status: Condition["status"], message: string): Condition => ({
  ...{ type, status, reason: `${type}${status}`, message, lastTransitionTime: at, lastUpdateTime: at },
});

const installation = (conditions: readonly Condition[], uid = "u"): ControllerInstallation => ({
  apiVersion: "core.gardener.cloud/v1beta1",
  kind: "ControllerInstallation",
  metadata: { name: "one-1", uid },
  spec: { registrationRef: { name: "one" }, seedRef: { name: "seed-1" } },
  status: { conditions: [...conditions] },
});

const hooks = said("Valid", "False", "the chart has hooks");
const valid = said("Valid", "True", "The chart can be rendered.");
const waits = { ...said("Installed", "False", "its manifests are not in the seed yet"), reason: "InstallationPending" };
const refused = { ...said("Installed", "False", "Deployment one is forbidden"), reason: "ApplyFailed" };
const installed = said("Installed", "True", "All resources are applied.");
const well = said("Healthy", "True", "All resources are healthy.");
const ill = said("Healthy", "False", "Deployment one has no pod");

test.each<[string, Condition[], Condition[], ["Normal" | "Warning", string] | undefined]>([
  ["a chart that cannot be installed", [], [hooks], ["Warning", hooks.message]],
  ["another reason for that", [hooks], [said("Valid", "False", "it has no name")], ["Warning", "it has no name"]],
  ["the same reason", [hooks], [hooks], undefined],
  ["a chart that is mended", [hooks], [valid], ["Normal", valid.message]],
  ["a controller that is not installed yet", [valid], [valid, waits], undefined],
  ["a controller whose objects the seed refuses", [waits], [refused], ["Warning", refused.message]],
  ["a refusal that goes on", [refused], [{ ...refused, message: "refused again" }], undefined],
  ["a controller that is installed", [waits], [installed], ["Normal", installed.message]],
  ["a controller that is not healthy yet", [], [ill], undefined],
  ["a controller that is healthy no more", [well], [ill], ["Warning", ill.message]],
  ["objects that ask for it", [], [said("Required", "True", "There are some.")], undefined],
])("an installation gets an Event where there is news: %s", (_, before, now, event) => {
  const told = occurrencesOf(installation(now), installation(before));
  expect(told.map(({ type, note }) => [type, note])).toEqual(event === undefined ? [] : [event]);
});

test("an installation gets no Event for what was there at the first look, or was said of one before it", () => {
  expect(occurrencesOf(installation([hooks]), undefined)).toEqual([]);
  expect(occurrencesOf(installation([hooks]), installation([], "before"))).toEqual([]);
});
