import { describe, expect, it } from "vitest";
import { extensionReady, rolledOut, type ExtensionLike } from "../../../src/activities/waits/readiness.ts";
import { needsTrigger } from "../../../src/activities/extensions/trigger.ts";

const stamp = "2026-01-01T12:00:00.900000000Z";

interface Change {
  annotations?: Record<string, string>;
  status?: ExtensionLike["status"] | Record<string, never>;
}

function infrastructure({ annotations = {}, status }: Change = {}): ExtensionLike {
  return {
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Infrastructure",
    metadata: {
      name: "j",
      namespace: "shoot--dev--j",
      generation: 2,
      annotations: { "gardener.cloud/timestamp": stamp, ...annotations },
    },
    status: status ?? ready,
  };
}

const ready = {
  observedGeneration: 2,
  lastOperation: { state: "Succeeded", description: "done", lastUpdateTime: "2026-01-01T12:00:00Z" },
};

describe("an extension object is ready", () => {
  it.each<[string, ExtensionLike, boolean]>([
    ["in the second it was asked", infrastructure(), true],
    [
      "unless it carries an error, even after success",
      infrastructure({ status: { ...ready, lastError: { description: "quota" } } }),
      false,
    ],
    ["unless its controller saw an older spec", infrastructure({ status: { ...ready, observedGeneration: 1 } }), false],
    [
      "unless the operation still waits to be taken up",
      infrastructure({ annotations: { "gardener.cloud/operation": "reconcile" } }),
      false,
    ],
    ["unless no operation was reported", infrastructure({ status: { observedGeneration: 2 } }), false],
    [
      "unless its operation is still processing",
      infrastructure({ status: { ...ready, lastOperation: { ...ready.lastOperation, state: "Processing" } } }),
      false,
    ],
    [
      "unless its last operation is a second older than the request",
      infrastructure({
        status: { ...ready, lastOperation: { ...ready.lastOperation, lastUpdateTime: "2026-01-01T11:59:59Z" } },
      }),
      false,
    ],
  ])("%s", (_name, object, reached) => expect(extensionReady(object, { timestamp: stamp }).reached).toBe(reached));

  describe("whatever error an earlier operation has left", () => {
    const processing = { ...ready.lastOperation, state: "Processing", lastUpdateTime: "2026-01-01T12:00:05Z" };
    const failed = { ...ready.lastOperation, state: "Error", lastUpdateTime: "2026-01-01T11:59:59Z" };
    const quota = { description: "quota", codes: ["ERR_INFRA_QUOTA_EXCEEDED"] };
    const at = (lastUpdateTime: string) => ({ ...quota, lastUpdateTime });
    it.each<[string, ExtensionLike["status"], boolean]>([
      ["which says when", { ...ready, lastOperation: processing, lastError: at("2026-01-01T11:59:59Z") }, false],
      ["which is as old as its operation", { ...ready, lastOperation: failed, lastError: quota }, false],
      ["but not one of the second it was asked", { ...ready, lastError: at("2026-01-01T12:00:00Z") }, true],
      ["but not a newer one", { ...ready, lastOperation: processing, lastError: at("2026-01-01T12:00:05Z") }, true],
      ["but not one of no known time", { lastError: quota }, true],
      ["but not one whose time is none", { ...ready, lastError: at("yesterday") }, true],
    ])("%s", (_name, status, counts) => {
      const readiness = extensionReady(infrastructure({ status }), { timestamp: stamp });
      expect("error" in readiness).toBe(counts);
    });
  });

  it("only with exactly the operation id that was given", () => {
    expect(extensionReady(infrastructure(), { timestamp: "2026-01-01T12:00:00.900000001Z" })).toMatchObject({
      reached: false,
    });
  });
  it.each([
    ["migrate", "Migrate", true],
    ["migrate", "Reconcile", false],
    ["restore", "Restore", true],
    ["restore", "Reconcile", true], // its controller came back to it since
    ["restore", "Migrate", false],
    [undefined, "Migrate", true],
  ] as const)("asked to %s and having done a %s: %s", (asked, type, reached) => {
    const object = infrastructure({ status: { ...ready, lastOperation: { ...ready.lastOperation, type } } });
    expect(extensionReady(object, { timestamp: stamp, ...(asked && { asked }) }).reached).toBe(reached);
  });
  it("never with a timestamp that is no time", () => {
    const object = infrastructure({ annotations: { "gardener.cloud/timestamp": "soon" } });
    expect(extensionReady(object, { timestamp: "soon" })).toMatchObject({
      reached: false,
      message: expect.stringContaining("is no time"),
    });
  });
  it("or names the error with its codes", () => {
    const lastError = { description: "quota", codes: ["ERR_INFRA_QUOTA_EXCEEDED"] };
    expect(extensionReady(infrastructure({ status: { ...ready, lastError } }), { timestamp: stamp })).toEqual({
      reached: false,
      message: "quota",
      error: { codes: ["ERR_INFRA_QUOTA_EXCEEDED"] },
    });
  });
});

describe("applying triggers the controller", () => {
  const old = infrastructure();
  it.each([
    ["Worker, always", { kind: "Worker", existing: old, asked: false }, true],
    ["Infrastructure that is done: no", { kind: "Infrastructure", existing: old, asked: false }, false],
    ["Infrastructure that is new", { kind: "Infrastructure", existing: undefined, asked: false }, true],
    ["Infrastructure when asked", { kind: "Infrastructure", existing: old, asked: true }, true],
    [
      "Infrastructure that failed",
      {
        kind: "Infrastructure",
        existing: infrastructure({ status: { ...ready, lastOperation: { ...ready.lastOperation, state: "Error" } } }),
        asked: false,
      },
      true,
    ],
    [
      "Infrastructure with an unreadable id",
      {
        kind: "Infrastructure",
        existing: infrastructure({ annotations: { "gardener.cloud/timestamp": "x" } }),
        asked: false,
      },
      true,
    ],
    [
      "Infrastructure that has not answered yet",
      {
        kind: "Infrastructure",
        existing: infrastructure({
          status: { ...ready, lastOperation: { ...ready.lastOperation, lastUpdateTime: "2026-01-01T11:00:00Z" } },
        }),
        asked: false,
      },
      true,
    ],
    ["DNSRecord that is done: no", { kind: "DNSRecord", existing: old, asked: false }, false],
  ] as const)("%s", (_name, facts, expected) => expect(needsTrigger(facts)).toBe(expected));
});

describe("a workload has rolled out", () => {
  const deployment = (status: object, replicas = 1) => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "kube-apiserver", generation: 2 },
    spec: { replicas },
    status: { observedGeneration: 2, replicas: 1, updatedReplicas: 1, readyReplicas: 1, ...status },
  });
  it.each([
    ["when every pod is new and ready", deployment({}), true],
    ["not while its controller sees an older spec", deployment({ observedGeneration: 1 }), false],
    ["not while pods are old", deployment({ updatedReplicas: 0 }), false],
    ["not while an old pod is left", deployment({ replicas: 2 }), false],
    ["not while pods are unready", deployment({ readyReplicas: 0 }), false],
    ["with no pods when none are wanted", deployment({ replicas: 0, updatedReplicas: 0, readyReplicas: 0 }, 0), true],
  ])("%s", (_name, object, reached) => expect(rolledOut(object).reached).toBe(reached));
});
