import { fileURLToPath } from "node:url";
import { status } from "@grpc/grpc-js";
import { CompleteAsyncError, heartbeat } from "@temporalio/activity";
import { WorkflowNotFoundError, type Client } from "@temporalio/client";
import { NativeConnection, Worker } from "@temporalio/worker";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SeedActivities } from "../../src/activities/index.ts";
import type { TemporalAddress } from "../../src/client/connect.ts";
import { createCompleter } from "../../src/client/completer.ts";
import { channelCredentials, readFiles } from "../../src/client/credentials.ts";
import { gardenGroup, seedsGroup } from "../../src/gateway/identity.ts";
import { defaultLimits } from "../../src/gateway/limits.ts";
import { messages, methods, workflowMethod } from "../../src/gateway/messages.ts";
import { createUpstream, type Upstream } from "../../src/gateway/upstream.ts";
import { createLogger } from "../../src/log.ts";
import { createSeedWorker } from "../../src/worker/seed.ts";
import { gardenQueue, seedQueue } from "../../src/workflows/contract.ts";
import { eventually } from "../support/eventually.ts";
import { rawCaller, startGatewayLab, type GatewayLab } from "../support/gateway-lab.ts";
import { bareCaller, beginCall, framed, startLoneGateway } from "../support/lone-gateway.ts";
import type { Activities } from "../support/gateway-workflow.ts";

let lab: GatewayLab;
let worker: Worker;
let running: Promise<void>;
/** The garden's own client, through the gateway; the worker of seed-1, which does wrong here; that of seed-2. */
let garden: Client;
let one: TemporalAddress;
let two: TemporalAddress;
let count = 0;

beforeAll(async () => {
  lab = await startGatewayLab();
  [one, two] = await Promise.all([lab.asSeed("seed-1"), lab.asSeed("seed-2")]);
  garden = await lab.connect(await lab.asGarden());
  worker = await Worker.create({
    connection: lab.temporal.connection,
    taskQueue: gardenQueue,
    workflowsPath: fileURLToPath(new URL("../support/gateway-workflow.ts", import.meta.url)),
  });
  running = worker.run();
});
afterAll(async () => {
  worker.shutdown();
  await running;
  await lab.stop();
});

const start = (type: "useSeed" | "waitForSeed" | "waitOnce" | "runOn", ...args: string[]) =>
  garden.workflow.start(type, {
    workflowId: `${type}/${(count += 1)}`,
    taskQueue: gardenQueue,
    args,
    workflowExecutionTimeout: "100s",
  });

/** One call in bytes; resolves with the answer, or with the status and the sentence that it was refused with. */
async function call(as: TemporalAddress, path: string, request: Uint8Array = new Uint8Array()) {
  const caller = rawCaller(as);
  try {
    return await callBy(caller, path, request);
  } finally {
    caller.close();
  }
}

/** The same on the caller's connection. */
async function callBy(caller: Upstream, path: string, request: Uint8Array = new Uint8Array()) {
  try {
    return { answer: await caller.call({ path, request, deadline: Date.now() + 20_000 }) };
  } catch (error) {
    const { code, details } = error as { code: status; details: string };
    return { refused: status[code], details };
  }
}

const poll = (as: TemporalAddress, name: string, namespace = "default") =>
  call(
    as,
    workflowMethod("PollActivityTaskQueue"),
    messages.PollActivityTaskQueueRequest.encode({ namespace, taskQueue: { name }, identity: "test" }).finish(),
  );

/** The four ways to answer a task, and how each is asked for. */
const answers = (namespace: string, taskToken: Uint8Array): readonly (readonly [string, Uint8Array])[] => [
  [
    "RespondActivityTaskCompleted",
    messages.RespondActivityTaskCompletedRequest.encode({ namespace, taskToken }).finish(),
  ],
  ["RespondActivityTaskFailed", messages.RespondActivityTaskFailedRequest.encode({ namespace, taskToken }).finish()],
  [
    "RespondActivityTaskCanceled",
    messages.RespondActivityTaskCanceledRequest.encode({ namespace, taskToken }).finish(),
  ],
  [
    "RecordActivityTaskHeartbeat",
    messages.RecordActivityTaskHeartbeatRequest.encode({ namespace, taskToken }).finish(),
  ],
];

describe("the worker of a seed", () => {
  it("does the work of its own queue through the gateway, and completes what waits", async () => {
    const { address, namespace, ...files } = one;
    const connection = await NativeConnection.connect({ address, ...(await readFiles(files)) });
    const activities: Activities = {
      async work() {
        heartbeat();
        return "worked";
      },
      async fail() {
        throw new Error("no quota");
      },
      async wait() {
        throw new CompleteAsyncError();
      },
    };
    const seed = await createSeedWorker({
      connection,
      namespace,
      seedName: "seed-1",
      activities: activities as unknown as SeedActivities,
    });
    const completer = createCompleter(await lab.connect(one));
    await seed.runUntil(async () => {
      const handle = await start("useSeed", seedQueue("seed-1"));
      const waiter = { workflowId: handle.workflowId, runId: handle.firstExecutionRunId, activityId: "wait" };
      await eventually(async () => expect(await completer.complete(waiter)).toBe(true));
      expect(await handle.result()).toBe("worked, ApplicationFailure: no quota");
    });
    await connection.close();
  });

  it("does its work with a fraction of the polls that it asks for", async () => {
    const refused: unknown[] = [];
    const log = createLogger({
      name: "test",
      level: "warn",
      destination: { write: (line) => void refused.push((JSON.parse(line) as { reason: unknown }).reason) },
    });
    const narrow = await startLoneGateway({
      upstream: createUpstream({ address: lab.temporal.address, ...channelCredentials({}) }),
      limits: { ...defaultLimits, seed: { ...defaultLimits.seed, polls: { own: 1, total: 10 } } },
      log,
    });
    const { address, namespace, ...files } = await narrow.asSeed("seed-3");
    const connection = await NativeConnection.connect({ address, ...(await readFiles(files)) });
    const activities = { work: async () => "worked", wait: async () => "waited" };
    const seed = await createSeedWorker({
      connection,
      namespace,
      seedName: "seed-3",
      activities: activities as unknown as SeedActivities,
    });
    await seed.runUntil(async () => {
      await eventually(() => expect(refused).not.toEqual([]));
      const handles = await Promise.all(Array.from({ length: 5 }, () => start("waitForSeed", seedQueue("seed-3"))));
      await Promise.all(handles.map((handle) => handle.result()));
    });
    expect(refused[0]).toContain("perennial:seed:seed-3 has too many waiting polls");
    await connection.close();
    await narrow.stop();
  });

  it("gets no other queue by any kind of queue, and no method by another spelling of its path", async () => {
    const method = workflowMethod("PollActivityTaskQueue");
    const own = seedQueue("seed-1");
    for (const taskQueue of [
      { name: "Seed-seed-1" },
      { name: `${own}\u0000` },
      { name: `/_sys/${own}/1` },
      { name: own, kind: 2, normalName: seedQueue("seed-2") },
      null,
    ]) {
      const request = messages.PollActivityTaskQueueRequest.encode({ namespace: "default", taskQueue }).finish();
      expect(await call(one, method, request)).toMatchObject({ refused: "PERMISSION_DENIED" });
    }
    for (const path of [
      method.toLowerCase(),
      method.replace("WorkflowService/", "workflowService/"),
      `/${method}`,
      `${method}/`,
      workflowMethod("../WorkflowService/SignalWorkflowExecution"),
      workflowMethod("%53ignalWorkflowExecution"),
      "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
      "/grpc.health.v1.Health/Watch",
      "/temporal.server.api.adminservice.v1.AdminService/DescribeMutableState",
      "/__proto__",
      "/constructor",
      workflowMethod("constructor"),
    ])
      expect(await call(one, path)).toMatchObject({ refused: "UNIMPLEMENTED" });
  });

  it("polls no other queue, by no name that means one, and in no other namespace", async () => {
    for (const name of [
      seedQueue("seed-2"),
      gardenQueue,
      `/_sys/${seedQueue("seed-2")}/1`,
      `${seedQueue("seed-1")} `,
      "",
    ])
      expect(await poll(one, name)).toEqual({
        refused: "PERMISSION_DENIED",
        details: `perennial:seed:seed-1 may not poll queue ${JSON.stringify(name)}`,
      });
    expect(await poll(one, seedQueue("seed-1"), "other")).toMatchObject({
      details: `perennial:seed:seed-1 may not act in Temporal's namespace "other"`,
    });
    const sticky = { name: seedQueue("seed-1"), normalName: seedQueue("seed-2"), kind: 2 };
    const request = messages.PollActivityTaskQueueRequest.encode({ namespace: "default", taskQueue: sticky }).finish();
    expect(await call(one, workflowMethod("PollActivityTaskQueue"), request)).toMatchObject({
      refused: "PERMISSION_DENIED",
    });
  });

  it("answers no task of another seed, whether it has Temporal's token or the one that the other got", async () => {
    const handle = await start("waitForSeed", seedQueue("seed-2"));
    const polled = await poll(two, seedQueue("seed-2"));
    const { taskToken } = messages.PollActivityTaskQueueResponse.decode(polled.answer ?? new Uint8Array());
    const raw = taskToken.subarray(34); // after version and MAC
    expect(Buffer.from(raw).toString("latin1")).toContain(handle.workflowId);
    for (const token of [taskToken, raw, new Uint8Array()])
      for (const [method, request] of answers("default", token))
        expect(await call(one, workflowMethod(method), request)).toEqual({
          refused: "PERMISSION_DENIED",
          details: "perennial:seed:seed-1 may not answer a task that was not handed out to it",
        });
    for (const [method, request] of answers("default", raw))
      expect(await call(two, workflowMethod(method), request)).toMatchObject({ refused: "PERMISSION_DENIED" });

    const [completed, , , beat] = answers("default", taskToken);
    expect(await call(two, workflowMethod(beat?.[0] ?? ""), beat?.[1])).toHaveProperty("answer");
    expect(await call(two, workflowMethod(completed?.[0] ?? ""), completed?.[1])).toHaveProperty("answer");
    await handle.result();
  });

  it("completes and fails no activity of another seed by its id, nor one whose run it does not name", async () => {
    const handle = await start("waitForSeed", seedQueue("seed-2"));
    await poll(two, seedQueue("seed-2"));
    const own = { namespace: "default", workflowId: handle.workflowId, activityId: "wait" };
    const runId = handle.firstExecutionRunId;
    const completion = (which: object) =>
      messages.RespondActivityTaskCompletedByIdRequest.encode({ ...own, ...which }).finish();
    const byId = (as: TemporalAddress, which: object) =>
      call(as, workflowMethod("RespondActivityTaskCompletedById"), completion(which));
    const refusal = (activityId: string) => ({
      refused: "NOT_FOUND",
      details: `no activity ${activityId} of ${handle.workflowId} waits for perennial:seed:seed-1`,
    });
    expect(await byId(one, { runId })).toEqual(refusal("wait"));
    expect(await byId(one, { runId, activityId: "none" })).toEqual(refusal("none"));
    const failure = messages.RespondActivityTaskFailedByIdRequest.encode({ ...own, runId }).finish();
    expect(await call(one, workflowMethod("RespondActivityTaskFailedById"), failure)).toEqual(refusal("wait"));
    expect(await byId(two, {})).toMatchObject({ refused: "INVALID_ARGUMENT" });
    expect(await byId(two, { runId, activityId: "other" })).toMatchObject({ refused: "NOT_FOUND" });
    expect(await byId(two, { runId })).toHaveProperty("answer");
    await handle.result();
  });

  it("ends its own flow with a sentence about the limit where its answer is too large", async () => {
    const handle = await start("waitOnce", seedQueue("seed-2"));
    const polled = await poll(two, seedQueue("seed-2"));
    const { taskToken } = messages.PollActivityTaskQueueResponse.decode(polled.answer ?? new Uint8Array());
    const details = { payloads: Array.from({ length: 950_000 }, () => ({})) };
    const failure = { message: "x", applicationFailureInfo: { type: "t", details } };
    const request = messages.RespondActivityTaskFailedRequest.encode({ namespace: "default", taskToken, failure });
    expect(await call(two, workflowMethod("RespondActivityTaskFailed"), request.finish())).toHaveProperty("answer");
    const error: unknown = await handle.result().catch((thrown: unknown) => thrown);
    const { cause } = (error as { cause: { cause: object } }).cause;
    expect(cause).toMatchObject({
      type: "AnswerTooLarge",
      message: expect.stringMatching(
        /^perennial:seed:seed-2 has answered with a message that has .* may have/,
      ) as string,
    });
  });

  it("signals, terminates, resets, cancels, queries, starts, describes, lists and reads no workflow", async () => {
    const { workflowId } = await start("runOn");
    const client = await lab.connect(one);
    const handle = client.workflow.getHandle(workflowId);
    const reset = { namespace: "default", workflowExecution: { workflowId }, reason: "test" };
    const attempts: Readonly<Record<string, () => Promise<unknown>>> = {
      SignalWorkflowExecution: () => handle.signal("end"),
      TerminateWorkflowExecution: () => handle.terminate(),
      ResetWorkflowExecution: () =>
        client.workflowService.resetWorkflowExecution(messages.ResetWorkflowExecutionRequest.create(reset)),
      RequestCancelWorkflowExecution: () => handle.cancel(),
      QueryWorkflow: () => handle.query("__stack_trace"),
      StartWorkflowExecution: () => client.workflow.start("runOn", { workflowId: "of a seed", taskQueue: gardenQueue }),
      DescribeWorkflowExecution: () => handle.describe(),
      ListWorkflowExecutions: () => client.workflowService.listWorkflowExecutions({ namespace: "default" }),
      GetWorkflowExecutionHistory: () => handle.fetchHistory(),
    };
    for (const [method, attempt] of Object.entries(attempts)) {
      const error: unknown = await attempt().catch((thrown: unknown) => thrown);
      const { cause } = error as { cause?: unknown };
      const said = String((cause as Error | undefined)?.message ?? (error as Error).message);
      expect(said).toContain(`perennial:seed:seed-1 may not call ${method}`);
    }
    expect((await garden.workflow.getHandle(workflowId).describe()).status.name).toBe("RUNNING");
    await expect(garden.workflow.getHandle("of a seed").describe()).rejects.toBeInstanceOf(WorkflowNotFoundError);
    await garden.workflow.getHandle(workflowId).signal("end");
  });

  it("calls no method but those of a worker of activities, of whatever service", async () => {
    const allowed = [
      ...["GetSystemInfo", "DescribeNamespace", "PollActivityTaskQueue", "RecordActivityTaskHeartbeat"],
      ...["RespondActivityTaskCompleted", "RespondActivityTaskFailed", "RespondActivityTaskCanceled"],
      ...[
        "RespondActivityTaskCompletedById",
        "RespondActivityTaskFailedById",
        "ShutdownWorker",
        "RecordWorkerHeartbeat",
      ],
    ].map(workflowMethod);
    const others = methods.filter((path) => !allowed.includes(path));
    expect(others.length).toBeGreaterThan(100);
    const caller = rawCaller(one);
    const refusals = await Promise.all(others.map((path) => callBy(caller, path)));
    caller.close();
    expect(refusals).toEqual(
      others.map((path) => ({
        refused: "PERMISSION_DENIED",
        details: `perennial:seed:seed-1 may not call ${path.slice(path.lastIndexOf("/") + 1)}`,
      })),
    );
    expect(await call(one, workflowMethod("NotYetThere"))).toMatchObject({ refused: "UNIMPLEMENTED" });
  });

  it("describes only its own namespace, and shuts down no other worker", async () => {
    const describes = (asked: object) =>
      call(one, workflowMethod("DescribeNamespace"), messages.DescribeNamespaceRequest.encode(asked).finish());
    expect(await describes({ namespace: "default" })).toHaveProperty("answer");
    expect(await describes({ namespace: "temporal-system" })).toMatchObject({ refused: "PERMISSION_DENIED" });
    expect(await describes({ namespace: "default", id: "x" })).toMatchObject({ refused: "PERMISSION_DENIED" });
    const shutsDown = (asked: object) =>
      call(
        one,
        workflowMethod("ShutdownWorker"),
        messages.ShutdownWorkerRequest.encode({ namespace: "default", ...asked }).finish(),
      );
    expect(await shutsDown({ stickyTaskQueue: "x" })).toMatchObject({ refused: "PERMISSION_DENIED" });
    expect(await shutsDown({ taskQueue: gardenQueue })).toMatchObject({ refused: "PERMISSION_DENIED" });
    const beats = (taskQueue: string) =>
      call(
        one,
        workflowMethod("RecordWorkerHeartbeat"),
        messages.RecordWorkerHeartbeatRequest.encode({
          namespace: "default",
          workerHeartbeat: [{ taskQueue }],
        }).finish(),
      );
    expect(await beats(gardenQueue)).toMatchObject({ refused: "PERMISSION_DENIED" });
    expect(await beats(seedQueue("seed-1"))).not.toMatchObject({ refused: "PERMISSION_DENIED" });
  });
});

describe("a seed that floods the gateway", () => {
  /** Starts an activity for this queue's worker, which gets it long before a poll of the flood ends. */
  const pollInTime = async (as: TemporalAddress, seed: string) => {
    const handle = await start("waitForSeed", seedQueue(seed));
    await eventually(async () => {
      const { pendingActivities } = (await handle.describe()).raw;
      expect(pendingActivities).toHaveLength(1);
    });
    const caller = rawCaller(as);
    await caller.call({ path: workflowMethod("GetSystemInfo"), request: new Uint8Array() }); // connects
    const request = messages.PollActivityTaskQueueRequest.encode({
      namespace: "default",
      taskQueue: { name: seedQueue(seed) },
    }).finish();
    const answer = await caller.call({
      path: workflowMethod("PollActivityTaskQueue"),
      request,
      cancelled: AbortSignal.timeout(10_000),
    });
    caller.close();
    const { taskToken } = messages.PollActivityTaskQueueResponse.decode(answer);
    const [completed] = answers("default", taskToken);
    expect(await call(as, workflowMethod(completed?.[0] ?? ""), completed?.[1])).toHaveProperty("answer");
    await handle.result();
  };

  it("delays neither another seed nor the garden, whether it floods with polls, calls or unfinished requests", async () => {
    const stop = new AbortController();
    const callers = Array.from({ length: 8 }, () => rawCaller(one));
    const codes = new Map<string, number>();
    const ask = async (path: string, request: Uint8Array, index: number) =>
      await callers[index % callers.length]
        ?.call({ path, request, cancelled: stop.signal })
        .catch(({ code }: { code: status }) => codes.set(status[code], (codes.get(status[code]) ?? 0) + 1));
    const askAgain = async (...asked: Parameters<typeof ask>) => {
      while (!stop.signal.aborted) await ask(...asked);
    };
    const polled = messages.PollActivityTaskQueueRequest.encode({
      namespace: "default",
      taskQueue: { name: seedQueue("seed-1") },
    }).finish();
    const lookedUp = messages.RespondActivityTaskCompletedByIdRequest.encode({
      namespace: "default",
      workflowId: "none",
      runId: "6b2f0c0e-6c1b-4d2b-9a8e-0b6c3a1f0b11",
      activityId: "1",
    }).finish();
    const floods = [
      ...Array.from({ length: 1_400 }, (_, index) => ask(workflowMethod("PollActivityTaskQueue"), polled, index)),
      ...Array.from({ length: 30 }, (_, index) =>
        askAgain(workflowMethod("RespondActivityTaskCompletedById"), lookedUp, index),
      ),
    ];
    const session = await bareCaller(one);
    const unfinished = Array.from({ length: 100 }, () =>
      beginCall(session, workflowMethod("GetSystemInfo"), [framed(Buffer.alloc(10), { length: 4 * 1024 * 1024 })]),
    );
    try {
      await eventually(() => expect(codes.get("RESOURCE_EXHAUSTED") ?? 0).toBeGreaterThan(300));
      for (let count = 0; count < 3; count += 1) {
        await pollInTime(two, "seed-2");
        await garden.workflowService.describeNamespace({ namespace: "default" });
      }
    } finally {
      session.destroy();
      stop.abort();
      await Promise.all([...floods, ...unfinished.map(({ ended }) => ended)]);
      for (const caller of callers) caller.close();
    }
    await pollInTime(one, "seed-1");
  });
});

describe("a caller", () => {
  const system = workflowMethod("GetSystemInfo");

  it("of the garden does everything: it signals, describes and completes by hand", async () => {
    const handle = await start("waitForSeed", seedQueue("seed-2"));
    await poll(two, seedQueue("seed-2"));
    const waiting = { workflowId: handle.workflowId, activityId: "wait" };
    await eventually(() => garden.activity.complete(waiting, "by hand"));
    expect(await handle.result()).toBe("by hand");
  });

  it("without a certificate, with another authority's, or with an expired one does not get in", async () => {
    const { certFile: _, keyFile: __, ...none } = one;
    expect(await call(none, system)).toMatchObject({ refused: "UNAVAILABLE" });
    const subject = { organization: gardenGroup, commonName: "perennial:test" };
    expect(await call(await lab.as(subject, "another"), system)).toMatchObject({ refused: "UNAVAILABLE" });
    expect(await call(await lab.as({ ...subject, lifetime: -60_000 }), system)).toMatchObject({
      refused: "UNAVAILABLE",
    });
    expect(await call(await lab.as(subject), system)).toHaveProperty("answer");
  });

  it("whose certificate expires while it is connected is turned away", async () => {
    const caller = rawCaller(
      await lab.as({ organization: gardenGroup, commonName: "perennial:test", lifetime: 4_000 }),
    );
    const ask = () => caller.call({ path: system, request: new Uint8Array(), deadline: Date.now() + 5_000 });
    await ask();
    await eventually(() => expect(ask()).rejects.toThrow(/UNAUTHENTICATED: the client certificate has expired/));
    caller.close();
  });

  it("whose certificate's subject names neither garden nor seed is not let in", async () => {
    const subjects = [
      { commonName: "perennial:seed:seed-1" },
      { commonName: "perennial:seed:seed-1", organization: gardenGroup },
      { commonName: "perennial:test", organization: seedsGroup },
      { commonName: "perennial:seed:", organization: seedsGroup },
      { commonName: "perennial:seed:seed-1/../seed-2", organization: seedsGroup },
      { commonName: "perennial:gateway", organization: "perennial" },
    ];
    for (const subject of subjects)
      expect(await call(await lab.as(subject), system)).toMatchObject({ refused: "UNAUTHENTICATED" });
  });
});
