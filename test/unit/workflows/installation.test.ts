import { expect, test } from "vitest";
import { install } from "../../../src/workflows/installation/install.ts";
import { uninstall } from "../../../src/workflows/installation/uninstall.ts";
import { before } from "../../support/flow-tables.ts";

test("an installation applies its chart when all that the chart's pods need is there", () => {
  expect([...before(install, "chart")].sort()).toEqual(["gardenAccess", "hold", "namespace", "resourceManager"]);
  expect([...before(install, "installed")]).toContain("chart");
});

test("a removal takes nothing away before it has seen that nothing needs the controller", () => {
  for (const step of uninstall.steps.keys())
    if (step !== "unneeded") expect([...before(uninstall, step)], step).toContain("unneeded");
});
