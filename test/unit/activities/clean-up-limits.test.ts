import { expect, it } from "vitest";
import { cleanUpLimits } from "../../../src/activities/teardown/clean-up-limits.ts";

const limits = (annotations?: Record<string, string>) =>
  cleanUpLimits({ name: "local", namespace: "garden-dev", ...(annotations && { annotations }) });
const prefix = "shoot.gardener.cloud/cleanup";

it("objects have upstream's grace unless the Shoot says otherwise", () => {
  expect(limits()).toEqual({
    outsideOnly: false,
    grace: { webhooks: 300, extendedApis: 3_600, kubernetesResources: 300, snapshots: 3_600 },
  });
});

it.each([
  ["webhooks", "0", { webhooks: 0 }],
  ["extended-apis", "60", { extendedApis: 60 }],
  ["kubernetes-resources", "60", { kubernetesResources: 60, snapshots: 60 }],
  ["kubernetes-resources", "1200", { kubernetesResources: 300, snapshots: 1_200 }],
])("the annotation for %s shortens their grace to %s s, and never makes it longer", (phase, seconds, expected) => {
  const { grace } = limits({ [`${prefix}-${phase}-finalize-grace-period-seconds`]: seconds });
  expect(grace).toEqual({ ...limits().grace, ...expected });
});

it.each(["", "-1", "5m", "1e3", "0x10"])("a grace of %j is refused by the annotation's name", (seconds) => {
  const annotation = `${prefix}-webhooks-finalize-grace-period-seconds`;
  expect(() => limits({ [annotation]: seconds })).toThrow(
    `cannot clean up: annotation ${annotation} is no number of seconds: ${seconds}`,
  );
});
