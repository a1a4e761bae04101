import { describe, expect, it } from "vitest";
import {
  propagatedConditions,
  reportedReadiness,
  STALE_AFTER,
  type ExtensionReport,
} from "../../../src/activities/shoot/extension-reports.ts";
import { examine, nextCondition } from "../../../src/activities/shoot/health.ts";

const now = new Date("2026-11-25T10:10:00Z");
const none = new Set<string>();

describe("what extensions say of an aspect of a Shoot's health", () => {
  it("is well while all of them say so, or say nothing", () => {
    expect(reportedReadiness("EveryNodeReady", [report(condition("EveryNodeReady"))], now)).toEqual({ reached: true });
    expect(reportedReadiness("EveryNodeReady", [report(condition("Other", { status: "False" }))], now)).toEqual({
      reached: true,
    });
  });

  it.each(["False", "Unknown", "Progressing"] as const)("is not well when one says %s", (status) => {
    const reports = [report(condition("EveryNodeReady")), report(condition("EveryNodeReady", { status }))];
    expect(reportedReadiness("EveryNodeReady", reports, now)).toEqual({
      reached: false,
      message: "Worker shoot--a/w reports: two machines are missing",
    });
  });

  it("is not known once its controller is silent, whatever it said before", () => {
    const last = (ago: number) => [{ ...report(condition("EveryNodeReady")), heardAt: now.getTime() - ago }];
    expect(reportedReadiness("EveryNodeReady", last(STALE_AFTER), now)).toEqual({ reached: true });
    expect(reportedReadiness("EveryNodeReady", last(STALE_AFTER + 1), now)).toEqual({
      ...{ reached: false, unknown: true },
      message:
        "The controller of Worker shoot--a/w was not heard of since 2026-11-25T10:04:59.999Z: how its part is, is not known.",
    });
    expect(
      reportedReadiness("EveryNodeReady", [{ ...report(condition("EveryNodeReady")), heardAt: 0 }], now),
    ).toMatchObject({
      message: expect.stringContaining("not heard of ever"),
    });
  });

  it("reaches the Shoot's condition: bad at once when not known, and after a while when not well", () => {
    const before = { ...condition("EveryNodeReady"), message: "All nodes are ready." };
    const unknown = { reached: false, unknown: true, message: "silent" } as const;
    expect(nextCondition("EveryNodeReady", before, unknown, now)).toMatchObject({
      status: "Unknown",
      reason: "OutdatedHealthCheckReport",
      message: "silent",
    });
    const bad = { reached: false, message: "no" } as const;
    expect(nextCondition("EveryNodeReady", before, bad, now)).toMatchObject({ status: "Progressing", message: "no" });
  });
});

describe("a condition that an extension propagates", () => {
  const propagate = { propagate: true };

  it("is the Shoot's as it is, and the mark stays behind", () => {
    const reports = [report({ ...condition("Resolvable"), ...propagate }), report(condition("Private"))];
    expect(propagatedConditions(reports, none, now)).toEqual([condition("Resolvable")]);
  });

  it("does not take the place of what is judged here", () => {
    const reports = [report({ ...condition("EveryNodeReady"), ...propagate })];
    expect(propagatedConditions(reports, new Set(["EveryNodeReady"]), now)).toEqual([]);
  });

  it.each([0, 1])("is the worst of several, in whichever order", (bad) => {
    const statuses = ["True", "True"].map((status, index) => (index === bad ? "False" : status)) as (
      "True" | "False"
    )[];
    const reports = statuses.map((status) => report({ ...condition("Resolvable", { status }), ...propagate }));
    expect(propagatedConditions(reports, none, now)).toMatchObject([{ type: "Resolvable", status: "False" }]);
  });

  it("is Unknown once its controller is silent, since the same time at each look", () => {
    const reports = [
      { ...report({ ...condition("Resolvable"), ...propagate }), heardAt: Date.parse("2026-11-25T10:00:00Z") },
    ];
    const said = propagatedConditions(reports, none, now);
    expect(said).toMatchObject([
      { status: "Unknown", reason: "OutdatedHealthCheckReport", lastTransitionTime: "2026-11-25T10:05:00Z" },
    ]);
    expect(propagatedConditions(reports, none, new Date("2026-11-25T11:00:00Z"))).toEqual(said);
  });
});

it("a control plane of which dependency-watchdog has scaled down a part is not healthy", async () => {
  const annotations = { "dependency-watchdog.gardener.cloud/meltdown-protection-active": "" };
  const stopped = {
    ...{ apiVersion: "apps/v1", kind: "Deployment", spec: { replicas: 0 } },
    metadata: { name: "kube-controller-manager", namespace: "shoot--a", generation: 1, annotations },
    status: { observedGeneration: 1, conditions: [{ type: "Available", status: "True" }] },
  };
  const seed = { list: (async ({ kind }: { kind: string }) => (kind === "Deployment" ? [stopped] : [])) as never };
  expect((await examine({ seed, shoot: undefined }, "shoot--a")).ControlPlaneHealthy).toEqual({
    reached: false,
    message: "Scaled down by dependency-watchdog: kube-controller-manager",
  });
});

function condition(type: string, change: { status?: "True" | "False" | "Unknown" | "Progressing" } = {}) {
  const time = "2026-11-25T10:00:00Z";
  const said = { reason: "Checked", message: "two machines are missing" };
  return { type, status: "True" as const, ...said, lastTransitionTime: time, lastUpdateTime: time, ...change };
}

function report(...conditions: ExtensionReport["conditions"]): ExtensionReport {
  return { kind: "Worker", name: "w", namespace: "shoot--a", conditions };
}
