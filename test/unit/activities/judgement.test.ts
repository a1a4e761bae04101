import { describe, expect, it } from "vitest";
import { judgeError } from "../../../src/activities/judge-error.ts";
import { judge, verdict } from "../../../src/activities/waits/judgement.ts";
import type { ExtensionLike } from "../../../src/activities/waits/readiness.ts";
import type { WaitTarget } from "../../../src/activities/index.ts";
import { afterFailure } from "../../../src/flow/retry.ts";

const type = { apiVersion: "extensions.gardener.cloud/v1alpha1", kind: "Infrastructure" } as const;
const key = { namespace: "shoot--dev--local", name: "local" } as const;
const target: WaitTarget = { ...type, ...key, until: "gone", severeAfter: 180_000, deadline: 600_000 };
const revoked = { description: "credentials were revoked", codes: ["ERR_INFRA_UNAUTHENTICATED"] };
const error = { codes: revoked.codes };

/** An Infrastructure that was asked to go at noon. */
const going = (lastError?: NonNullable<ExtensionLike["status"]>["lastError"]): ExtensionLike => ({
  ...type,
  metadata: {
    ...key,
    finalizers: ["extensions.gardener.cloud/infrastructure"],
    annotations: { "gardener.cloud/timestamp": "2026-01-01T12:00:00.900Z" },
  },
  status: { lastError },
});

describe("an object that is to go", () => {
  it("says what holds it while its controller has reported no error", () => {
    const message = "held by extensions.gardener.cloud/infrastructure";
    expect(judge(target, going())).toEqual({ reached: false, message });
  });

  it.each([
    ["in the second that it was asked", "2026-01-01T12:00:00Z"],
    ["later", "2026-01-01T12:10:00Z"],
    ["at a time that is not known", undefined],
  ])("has the error, with its codes, that its controller reported %s", (_, lastUpdateTime) => {
    const lastError = { ...revoked, lastUpdateTime };
    expect(judge(target, going(lastError))).toEqual({ reached: false, message: revoked.description, error });
  });

  it("does not have the error of an earlier operation, but names it", () => {
    const readiness = judge(target, going({ ...revoked, lastUpdateTime: "2026-01-01T11:59:59Z" }));
    expect(readiness).toEqual({ reached: false, message: revoked.description });
  });

  it("ends the wait with the error's codes once it has lasted, and for good where only a user can mend it", () => {
    const since = Date.now() - target.severeAfter;
    const readiness = judge(target, going(revoked));
    expect(verdict({ target, since }, readiness)).toMatchObject({ ...error, retryable: false });
    expect(verdict({ target, since: Date.now() }, readiness)).toBeGreaterThan(170_000);
  });
});

describe("an error that a controller has reported", () => {
  const tried = { attempt: 1, elapsed: 0, retryDuration: 600_000 };
  it.each([
    ["tried again", "no code at all", []],
    ["tried again", "ERR_INFRA_RATE_LIMITS_EXCEEDED", ["ERR_INFRA_RATE_LIMITS_EXCEEDED"]],
    ["tried again", "ERR_RETRYABLE_INFRA_DEPENDENCIES", ["ERR_RETRYABLE_INFRA_DEPENDENCIES"]],
    ["tried again", "ERR_RETRYABLE_CONFIGURATION_PROBLEM", ["ERR_RETRYABLE_CONFIGURATION_PROBLEM"]],
    ["tried again", "ERR_INFRA_RESOURCES_DEPLETED", ["ERR_INFRA_RESOURCES_DEPLETED"]],
    ["parked", "ERR_INFRA_UNAUTHENTICATED", ["ERR_INFRA_UNAUTHENTICATED"]],
    ["parked", "ERR_INFRA_UNAUTHORIZED", ["ERR_INFRA_UNAUTHORIZED"]],
    ["parked", "ERR_INFRA_QUOTA_EXCEEDED", ["ERR_INFRA_QUOTA_EXCEEDED"]],
    ["parked", "ERR_INFRA_DEPENDENCIES", ["ERR_INFRA_DEPENDENCIES"]],
    ["parked", "ERR_CONFIGURATION_PROBLEM", ["ERR_CONFIGURATION_PROBLEM"]],
    ["parked", "ERR_PROBLEMATIC_WEBHOOK among others", ["ERR_INFRA_RATE_LIMITS_EXCEEDED", "ERR_PROBLEMATIC_WEBHOOK"]],
  ])("has its step %s with %s", (next, _, codes) => {
    const lasting = { target, since: Date.now() - target.severeAfter };
    const error = verdict(lasting, judge(target, going({ description: "no", codes })));
    const { then } = afterFailure(judgeError(error), tried);
    expect(then).toBe(next === "parked" ? "park" : "retry");
  });
});
