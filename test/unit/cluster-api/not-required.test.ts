import { describe, expect, it } from "vitest";
import type { Condition } from "../../../src/api/cluster-api/index.ts";
import { withoutInfrastructure } from "../../../src/cluster-api/optional-infrastructure/not-required.ts";

const condition = (type: string, status: Condition["status"], reason: string, message = "", second = 0): Condition => ({
  ...{ type, status, reason, message },
  lastTransitionTime: `2026-11-28T10:00:0${second}Z`,
});
const words = "Please check controller logs for errors";
const line = `* InfrastructureReady: ${words}`;
const atALoss = condition("InfrastructureReady", "Unknown", "InternalError", words, 5);
const notRequired = condition("InfrastructureReady", "True", "NotRequired");
const available = (status: Condition["status"], reason: string, message: string) =>
  condition("Available", status, reason, message, 5);

describe("what core says of a Cluster without infrastructure", () => {
  it("becomes available where nothing else is unknown", () => {
    const mended = withoutInfrastructure([available("Unknown", "AvailableUnknown", line), atALoss]);
    expect(mended).toEqual([
      available("True", "Available", ""),
      { ...notRequired, lastTransitionTime: atALoss.lastTransitionTime },
    ]);
  });

  it.each([
    ["Unknown", "AvailableUnknown", "* RemoteConnectionProbe: not yet"],
    ["False", "NotAvailable", "* ControlPlaneAvailable: no\n  not at all"],
  ] as const)("stays %s where other lines say so, without the line of the infrastructure", (status, reason, other) => {
    const [mended] = withoutInfrastructure([available(status, reason, `${line}\n${other}`), atALoss]);
    expect(mended).toEqual(available(status, reason, other));
  });

  it("is what is stored where that says so already, so that nothing is written", () => {
    const stored = [
      condition("Available", "True", "Available"),
      notRequired,
      condition("Paused", "False", "NotPaused"),
    ];
    const written = [
      available("Unknown", "AvailableUnknown", line),
      atALoss,
      condition("Paused", "False", "NotPaused"),
    ];
    expect(withoutInfrastructure(written, stored)).toEqual(stored);
  });

  it("keeps the time of its own transition where the status changes", () => {
    const stored = [condition("Available", "False", "NotAvailable", "* ControlPlaneAvailable: no"), notRequired];
    const [mended] = withoutInfrastructure([available("Unknown", "AvailableUnknown", line), atALoss], stored);
    expect(mended).toEqual(available("True", "Available", ""));
  });

  it("is left alone where core knows what it says", () => {
    const known = [
      condition("Available", "False", "NotAvailable", line),
      condition("InfrastructureReady", "False", "NotReady"),
    ];
    expect(withoutInfrastructure(known)).toBe(known);
  });
});
