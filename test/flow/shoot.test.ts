import { ApplicationFailure } from "@temporalio/common";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FlowProgress } from "../../src/api/shoot/run.ts";
import { createShootClient } from "../../src/client/shoots.ts";
import { flowWorkflowId, shootWorkflowId } from "../../src/workflows/contract.ts";
import { eventually } from "../support/eventually.ts";
import { startFlowLab, type FlowLab, type World } from "../support/flow-lab.ts";

let lab: FlowLab;
beforeAll(async () => void (lab = await startFlowLab()));
afterAll(() => lab.stop());

const step = (progress: FlowProgress | undefined, name: string) => progress?.steps.find((one) => one.name === name);

/** Has the next look of a call fail, and none after it. */
function failOnce(fail: World["fail"], call: string, failure: ApplicationFailure): void {
  Object.defineProperty(fail, call, {
    configurable: true,
    get() {
      Reflect.deleteProperty(fail, call);
      return failure;
    },
  });
}

describe("a Shoot's workflow", () => {
  it("creates the Shoot, writes its status, and waits for what comes next", async () => {
    const world = lab.world();
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    expect(world.status).toMatchObject({ progress: 100, lastErrors: [] });
    expect(world.calls).toContain("deployComponent kube-apiserver");
    expect(world.calls.indexOf("applyExtension Infrastructure")).toBeLessThan(
      world.calls.indexOf("deployComponent kube-apiserver"),
    );
    const progress = await lab.shoots.progress(world.ref);
    expect(progress).toMatchObject({ operation: "Create", percent: 100 });
    expect(step(progress, "nodesReady")?.state).toBe("done");
    await world.gone();
  });

  it("creates a Shoot that is to hibernate from the beginning: its control plane runs once, and stops", async () => {
    const world = lab.world({ hibernated: true, fallsAsleep: true, hasInternalDomain: true, hasExternalDomain: true });
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    expect(world.status).toMatchObject({ progress: 100, lastErrors: [] });
    const at = (call: string) => world.calls.indexOf(call);
    const inOrder = [
      "deployComponent etcd",
      "deployComponent kube-apiserver",
      "applyExtension ControlPlane",
      "applyExtension Worker",
      "stopWorkload kube-apiserver",
      "stopWorkload etcd",
    ];
    expect(inOrder.filter((call) => at(call) < 0)).toEqual([]);
    expect(inOrder.map(at)).toEqual(inOrder.map(at).toSorted((one, other) => one - other));
    expect(world.calls.filter((call) => /^(applyExtension DNSRecord|initializeShootClients)/.test(call))).toEqual([]);
    const progress = await lab.shoots.progress(world.ref);
    expect(progress).toMatchObject({ operation: "Create", percent: 100 });
    expect(step(progress, "nodesReady")?.state).toBe("skipped");
    await world.gone();
  });

  it("parks a step that only an operator can mend, goes on with the rest, and resumes at exactly that step", async () => {
    const world = lab.world();
    world.fail["deployComponent etcd"] = ApplicationFailure.nonRetryable("quota", "StepError", {
      message: "quota is used up",
      codes: ["ERR_INFRA_QUOTA_EXCEEDED"],
      retryable: false,
    });
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.status?.state).toBe("Failed"));
    expect(world.status?.lastErrors).toMatchObject([
      { taskID: "etcd", description: "quota is used up", codes: ["ERR_INFRA_QUOTA_EXCEEDED"] },
    ]);
    expect(world.calls).toContain("applyExtension Infrastructure");
    expect(world.calls).not.toContain("deployComponent kube-apiserver");

    const before = world.calls.length;
    delete world.fail["deployComponent etcd"];
    expect(await lab.shoots.retry(world.ref)).toEqual(["etcd"]);
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    const after = world.calls.slice(before);
    expect(after.indexOf("writeStatus Processing")).toBeLessThan(after.indexOf("deployComponent etcd"));
    expect(after.indexOf("syncCluster")).toBeLessThan(after.indexOf("deployComponent etcd"));
    expect(after).not.toContain("applyExtension Infrastructure");
    expect(after).not.toContain("deployComponent namespace");
    await world.gone();
  });

  it("says what troubles a step while it goes on to wait, and forgets that when it has passed", async () => {
    const world = lab.world();
    const call = "waitFor kube-apiserver";
    const message = "container kube-apiserver: CrashLoopBackOff, exit code 1: unrecognized feature gate";
    const trouble = { about: "Deployment kube-apiserver", message, codes: [], retryable: true };
    world.hold.add(call);
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.calls).toContain(call));
    failOnce(world.fail, call, ApplicationFailure.nonRetryable(message, "Trouble", trouble));
    await eventually(() => expect(world.status?.lastErrors).toHaveLength(1));
    expect(world.status).toMatchObject({
      state: "Error",
      lastErrors: [{ taskID: "kubeApiServer", description: message }],
    });
    expect(step(await lab.shoots.progress(world.ref), "kubeApiServer")).toMatchObject({ state: "running" });
    expect(world.calls.filter((one) => one === call)).toHaveLength(2);
    expect(world.calls.filter((one) => one === "deployComponent kube-apiserver")).toHaveLength(1);

    world.hold.delete(call);
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    expect(world.status?.lastErrors).toEqual([]);
    await world.gone();
  });

  it.each([
    ["codes that are none", { message: "no", codes: [{ a: 1 }, 5, "ERR_X\n"], retryable: true }],
    ["no list of codes", { message: "no", codes: null, retryable: true }],
    ["no message", { message: { text: "no" }, codes: [], retryable: "yes" }],
    ["another seed as silent", { message: "no", codes: [], retryable: true, silent: "another" }],
  ])("goes on, and can be stopped, whatever a seed says of its error: %s", async (_, failure) => {
    const world = lab.world();
    world.fail["waitFor Infrastructure"] = ApplicationFailure.nonRetryable("no", "StepError", failure);
    await lab.shoots.nudge(world.ref);
    await eventually(() =>
      expect(world.status?.lastErrors).toMatchObject([{ taskID: "infrastructure", description: "no", codes: [] }]),
    );
    await expect(lab.shoots.retry(world.ref, "worker")).rejects.toThrow(
      "step worker does not wait for a retry, these do: infrastructure",
    );
    delete world.fail["waitFor Infrastructure"];
    await lab.shoots.retry(world.ref, "infrastructure");
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    await world.gone();
  });

  it("pauses where a seed finds trouble without end", async () => {
    const world = lab.world();
    const call = "waitFor Infrastructure";
    let found = 0;
    Object.defineProperty(world.fail, call, {
      configurable: true,
      get() {
        const trouble = { message: "a pod crashes", codes: [], about: `pod ${found++}`, retryable: true };
        return ApplicationFailure.nonRetryable("a pod crashes", "Trouble", trouble);
      },
    });
    await lab.shoots.nudge(world.ref);
    await eventually(async () => {
      expect(found).toBeLessThan(40);
      expect(step(await lab.shoots.progress(world.ref), "infrastructure")).toMatchObject({ state: "retrying" });
    });
    expect(found).toBe(21);
    Reflect.deleteProperty(world.fail, call);
    await lab.shoots.retry(world.ref, "infrastructure");
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    await world.gone();
  });

  it("retries what may succeed later, and says so meanwhile", async () => {
    const world = lab.world();
    world.fail["waitFor Infrastructure"] = ApplicationFailure.nonRetryable("busy", "StepError", {
      message: "the provider is busy",
      codes: ["ERR_INFRA_RATE_LIMITS_EXCEEDED"],
      retryable: true,
    });
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.status).toMatchObject({ state: "Error" }));
    expect(step(await lab.shoots.progress(world.ref), "infrastructure")).toMatchObject({
      state: "retrying",
      attempt: 1,
    });
    delete world.fail["waitFor Infrastructure"];
    await lab.shoots.retry(world.ref, "infrastructure");
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    expect(world.calls.filter((call) => call === "applyExtension Infrastructure")).toHaveLength(2);
    await world.gone();
  });

  it("refuses to retry where nothing waits", async () => {
    const world = lab.world();
    world.hold.add("waitFor Infrastructure");
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.calls).toContain("waitFor Infrastructure"));
    await expect(lab.shoots.retry(world.ref, "infrastructure")).rejects.toThrow(
      "step infrastructure does not wait for a retry, no step does",
    );
    world.hold.clear();
    await world.gone();
  });

  it("answers a retry asked for by annotation, once", async () => {
    const world = lab.world();
    world.fail["deployComponent etcd"] = ApplicationFailure.nonRetryable("no", "StepError", {
      message: "no",
      codes: ["ERR_CONFIGURATION_PROBLEM"],
      retryable: false,
    });
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.status?.state).toBe("Failed"));
    delete world.fail["deployComponent etcd"];
    world.view.request = "retry";
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    expect(world.view.request).toBeUndefined();
    expect(world.calls.filter((call) => call === "beginOperation Create")).toHaveLength(1);
    await world.gone();
  });

  it("answers a retry that is asked for together with another run, and then does that run", async () => {
    const world = lab.world();
    world.fail["deployComponent etcd"] = refusal;
    world.hold.add("waitFor Infrastructure");
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.status).toMatchObject({ state: "Error", lastErrors: [{ taskID: "etcd" }] }));
    delete world.fail["deployComponent etcd"];
    world.view.request = "retry;reconcile";
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.view.request).toBe("reconcile"));
    world.hold.clear();
    await eventually(() => expect(world.calls).toContain("beginOperation Reconcile"));
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    expect(world.view.request).toBeUndefined();
    await world.gone();
  });

  it("stops a create between steps when the Shoot is deleted, and deletes it", async () => {
    const world = lab.world();
    world.hold.add("waitFor Infrastructure");
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.calls).toContain("waitFor Infrastructure"));
    world.view.deleting = true;
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.calls).toContain("beginOperation Delete"));
    world.hold.clear();
    await eventually(() => expect(world.calls).toContain("releaseShoot"));
    expect(world.calls).not.toContain("deployComponent kube-controller-manager");
    expect(world.status).toMatchObject({ state: "Succeeded", progress: 100 });
    await lab.client.workflow.getHandle(shootWorkflowId(world.ref)).result();
  });

  it("begins again with a new generation, in the middle of the old one", async () => {
    const world = lab.world();
    world.hold.add("waitFor Infrastructure");
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.calls).toContain("waitFor Infrastructure"));
    world.view.generation = 2;
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.calls.filter((call) => call === "beginOperation Create")).toHaveLength(2));
    expect(world.calls).not.toContain("deployComponent kube-controller-manager");
    world.hold.clear();
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    await world.gone();
  });

  it("takes up a running operation again after it was terminated itself", async () => {
    const world = lab.world();
    world.hold.add("waitFor Infrastructure");
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.calls).toContain("waitFor Infrastructure"));
    await lab.client.workflow.getHandle(shootWorkflowId(world.ref)).terminate("test");
    await lab.shoots.nudge(world.ref);
    world.hold.clear();
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    for (const call of ["beginOperation Create", "deployComponent namespace"])
      expect(world.calls.filter((other) => other === call)).toHaveLength(1);
    await world.gone();
  });

  it("knows what a running operation was begun for, and replaces it when that has changed", async () => {
    const world = lab.world();
    world.hold.add("waitFor Infrastructure");
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.calls).toContain("waitFor Infrastructure"));
    await lab.client.workflow.getHandle(shootWorkflowId(world.ref)).terminate("test");
    world.view.generation = 2;
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.view.observedGeneration).toBe(2));
    world.hold.clear();
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    expect(world.calls.filter((call) => call === "deployComponent namespace")).toHaveLength(2);
    await world.gone();
  });

  it("goes on with all steps that wait, when several are asked to", async () => {
    const world = lab.world();
    const calls = ["deployComponent etcd", "waitFor Infrastructure"];
    for (const call of calls) world.fail[call] = refusal;
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.status?.lastErrors).toHaveLength(2));
    await eventually(() => expect(world.status?.state).toBe("Failed"));
    world.fail = {};
    world.view.request = "retry";
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    await world.gone();
  });

  it("tells users of its progress after ten seconds", async () => {
    const world = lab.world();
    world.hold.add("waitFor Infrastructure");
    const begun = Date.now();
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.calls).toContain("writeStatus Processing"), 30_000);
    expect(Date.now() - begun).toBeGreaterThan(9_000);
    expect(world.status?.description).toContain("infrastructure");
    world.hold.clear();
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    await world.gone();
  });

  it("outlives a garden that refuses reads and writes for a while", async () => {
    const world = lab.world();
    world.fail["readShoot"] = refusal;
    await lab.shoots.nudge(world.ref);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    world.fail = { writeStatus: refusal };
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.calls).toContain("writeStatus Succeeded"));
    expect(world.status).toBeUndefined();
    world.fail = {};
    await eventually(() => expect(world.status?.state).toBe("Succeeded"), 60_000);
    expect(world.calls.filter((call) => call === "beginOperation Create")).toHaveLength(1);
    await world.gone();
  });

  it("begins an operation anew when that was terminated", async () => {
    const world = lab.world();
    world.hold.add("waitFor Infrastructure");
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.calls).toContain("waitFor Infrastructure"));
    world.hold.clear();
    await lab.client.workflow.getHandle(flowWorkflowId(world.ref, "reconcile")).terminate("test");
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    await world.gone();
  });

  it("writes no secret and no manifest into its histories", async () => {
    const world = lab.world();
    await lab.shoots.nudge(world.ref);
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    const history = await lab.client.workflow.getHandle(flowWorkflowId(world.ref, "reconcile")).fetchHistory();
    const payloads = [...JSON.stringify(history).matchAll(/"data":"([^"]+)"/g)].map(([, data = ""]) =>
      Buffer.from(data, "base64").toString(),
    );
    expect(payloads).toContain('"kube-apiserver"');
    expect(payloads.filter((payload) => /BEGIN|client-key|kubeconfig:|"data":\{|"spec":/.test(payload))).toEqual([]);
    expect(history.events?.length).toBeLessThan(400);
    await world.gone();
  });
});

describe("a Shoot's workflow whose history grows long", () => {
  it("continues as new in the middle of an operation, which goes on", async () => {
    const lab = await startFlowLab({ longHistory: 40 });
    const world = lab.world();
    world.hold.add("waitFor Infrastructure");
    await lab.shoots.nudge(world.ref);
    const entity = lab.client.workflow.getHandle(shootWorkflowId(world.ref));
    const { runId } = await entity.describe();
    await eventually(async () => {
      await lab.shoots.nudge(world.ref);
      expect((await entity.describe()).runId).not.toBe(runId);
    });
    world.hold.clear();
    await eventually(() => expect(world.status?.state).toBe("Succeeded"));
    for (const call of ["beginOperation Create", "deployComponent namespace"])
      expect(world.calls.filter((other) => other === call)).toHaveLength(1);
    await world.gone();
    await lab.stop();
  });
});

const refusal = ApplicationFailure.nonRetryable("forbidden", "Kube403", {
  message: "forbidden",
  codes: [],
  retryable: false,
});

describe("the client", () => {
  it("says that no operation runs where none does", async () => {
    const { ref } = lab.world();
    expect(await createShootClient(lab.client).progress(ref)).toBeUndefined();
    await expect(lab.shoots.retry(ref)).rejects.toThrow("no operation of Shoot");
  });
});
