import { gzipSync } from "node:zlib";
import { status } from "@grpc/grpc-js";
import { afterEach, describe, expect, it } from "vitest";
import { Duration, messages, workflowMethod } from "../../../src/gateway/messages.ts";
import type { UpstreamCall } from "../../../src/gateway/upstream.ts";
import { seedQueue } from "../../../src/workflows/contract.ts";
import { bareCaller, beginCall, framed, rawCaller, startLoneGateway } from "../../support/lone-gateway.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const QUEUE = seedQueue("seed-1");
const POLL = "PollActivityTaskQueue";
const DESCRIBE = workflowMethod("DescribeWorkflowExecution");
const empty = (count: number) => ({ payloads: Array.from({ length: count }, () => ({})) });

/** A frontend that hands out one task and knows one activity that waits; seed-1 calls through the gateway. */
async function start(heartbeatDetails: object = {}) {
  const received: UpstreamCall[] = [];
  const task = { taskToken: Buffer.from("of Temporal"), activityId: "1", attempt: 2, heartbeatDetails };
  const waiting = { activityId: "wait", heartbeatDetails, activityOptions: { taskQueue: { name: QUEUE } } };
  const answers: Readonly<Record<string, Uint8Array>> = {
    [workflowMethod(POLL)]: messages.PollActivityTaskQueueResponse.encode(task).finish(),
    [DESCRIBE]: messages.DescribeWorkflowExecutionResponse.encode({ pendingActivities: [waiting] }).finish(),
  };
  const gateway = await startLoneGateway({
    upstream: {
      async call(call) {
        if (call.path !== DESCRIBE) received.push(call);
        return await Promise.resolve(answers[call.path] ?? new Uint8Array());
      },
      close: () => undefined,
    },
    pause: 1,
  });
  ends.push(() => gateway.stop());
  const address = await gateway.asSeed("seed-1");
  const caller = rawCaller(address);
  ends.push(() => caller.close());
  const ask = (method: string, request: Uint8Array) => caller.call({ path: workflowMethod(method), request });
  const poll = async () => {
    const request = messages.PollActivityTaskQueueRequest.encode({ namespace, taskQueue: { name: QUEUE } }).finish();
    return messages.PollActivityTaskQueueResponse.decode(await ask(POLL, request));
  };
  return { address, received, ask, poll };
}

const namespace = "default";

/** Milliseconds of this process, which is the gateway's here. */
async function processorTime(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe("an answer of a seed that is too large", () => {
  const deep = Array.from({ length: 60 }).reduce<object>((cause) => ({ message: "x", cause }), { message: "x" });
  const details = (payloads: object) => ({ message: "x", applicationFailureInfo: { type: "t", details: payloads } });
  const large = { payloads: [{ data: Buffer.alloc(300 * 1024) }] };
  const kinds = [
    ["result", "RespondActivityTaskCompleted", { result: empty(200_000) }],
    ["result of one payload", "RespondActivityTaskCompleted", { result: large }],
    ["failure's details", "RespondActivityTaskFailed", { failure: details(empty(950_000)) }],
    ["failure's message", "RespondActivityTaskFailed", { failure: { message: "x".repeat(300_000) } }],
    ["failure's stack trace", "RespondActivityTaskFailed", { failure: { stackTrace: "x".repeat(300_000) } }],
    ["failure's causes", "RespondActivityTaskFailed", { failure: deep }],
    ["last heartbeat", "RespondActivityTaskFailed", { lastHeartbeatDetails: empty(2_000) }],
    ["cancellation's details", "RespondActivityTaskCanceled", { details: empty(2_000) }],
    ["heartbeat's details", "RecordActivityTaskHeartbeat", { details: empty(2_000) }],
    ["identity", "RecordActivityTaskHeartbeat", { identity: "x".repeat(300_000) }],
  ] as const;
  const limit =
    /^perennial:seed:seed-1 has answered with a message that (has \d+ bytes and may have 262144|has more than the 1000 fields that it may have|is nested more than 40 levels deep)$/;

  it.each(kinds)("fails the activity with the limit: its %s", async (_, method, content) => {
    const { received, ask, poll } = await start();
    const { taskToken } = await poll();
    const message = messages[`${method}Request`];
    expect(await ask(method, message.encode({ namespace, taskToken, ...content }).finish())).toHaveLength(0);
    const { path, request } = received.at(-1) ?? {};
    expect(path).toBe(workflowMethod("RespondActivityTaskFailed"));
    const { failure, ...rest } = messages.RespondActivityTaskFailedRequest.decode(request ?? new Uint8Array());
    expect(rest).toEqual({ namespace, taskToken: Buffer.from("of Temporal") });
    expect(failure?.message).toMatch(limit);
    expect(failure?.applicationFailureInfo).toMatchObject({ type: "AnswerTooLarge", nonRetryable: true });
  });

  it.each([
    ["RespondActivityTaskCompletedById", { result: empty(200_000) }],
    ["RespondActivityTaskFailedById", { failure: details(empty(200_000)) }],
    ["RespondActivityTaskFailedById", { lastHeartbeatDetails: large }],
  ] as const)("fails the activity that waits, by %s", async (method, content) => {
    const { received, ask } = await start();
    const named = { namespace, workflowId: "w", runId: "r", activityId: "wait" };
    await ask(method, messages[`${method}Request`].encode({ ...named, ...content }).finish());
    const { path, request } = received.at(-1) ?? {};
    expect(path).toBe(workflowMethod("RespondActivityTaskFailedById"));
    const { failure, ...rest } = messages.RespondActivityTaskFailedByIdRequest.decode(request ?? new Uint8Array());
    expect(rest).toEqual(named);
    expect(failure?.message).toMatch(limit);
  });

  it("does not hide whose task it answers", async () => {
    const { received, ask } = await start();
    const taskToken = Buffer.from("of Temporal");
    const content = { namespace, taskToken, result: empty(2_000) };
    const request = messages.RespondActivityTaskCompletedRequest.encode(content).finish();
    await expect(ask("RespondActivityTaskCompleted", request)).rejects.toMatchObject({
      code: status.PERMISSION_DENIED,
    });
    expect(received).toEqual([]);
  });
});

it("passes on a failure of twenty causes with encrypted attributes as it is", async () => {
  const { received, ask, poll } = await start();
  const payload = {
    metadata: { encoding: Buffer.from("binary/encrypted"), key: Buffer.from("k") },
    data: Buffer.alloc(9),
  };
  const one = { message: "Encoded failure", source: "TypeScriptSDK", encodedAttributes: payload };
  const failure = Array.from({ length: 20 }).reduce<object>(
    (cause) => ({ ...one, cause, applicationFailureInfo: { type: "t", details: { payloads: [payload] } } }),
    one,
  );
  const { taskToken } = await poll();
  const request = messages.RespondActivityTaskFailedRequest.encode({ namespace, taskToken, failure }).finish();
  await ask("RespondActivityTaskFailed", request);
  const passed = messages.RespondActivityTaskFailedRequest.decode(received.at(-1)?.request ?? new Uint8Array());
  expect(passed.failure).toMatchObject(failure);
});

it.each([
  ["68 years", 2_147_483_647],
  ["a minute and a second", 61],
])("puts the next try off for a minute at most, where a seed asks for %s", async (_, seconds) => {
  const { received, ask, poll } = await start();
  const nextRetryDelay = Duration.fromObject({ seconds });
  const failure = { message: "busy", applicationFailureInfo: { type: "Kube429", nextRetryDelay } };
  const { taskToken } = await poll();
  await ask(
    "RespondActivityTaskFailed",
    messages.RespondActivityTaskFailedRequest.encode({ namespace, taskToken, failure }).finish(),
  );
  const passed = messages.RespondActivityTaskFailedRequest.decode(received.at(-1)?.request ?? new Uint8Array());
  expect(passed.failure?.applicationFailureInfo).toMatchObject({ type: "Kube429" });
  expect(Number(passed.failure?.applicationFailureInfo?.nextRetryDelay?.seconds)).toBe(60);
});

describe("the gateway", () => {
  it("refuses another message of a seed that is too large, and does not decode it", async () => {
    const { address, received } = await start();
    const session = await bareCaller(address);
    ends.push(() => session.destroy());
    const head = messages.RecordWorkerHeartbeatRequest.encode({ namespace }).finish();
    const ask = (heartbeats: number) => {
      const message = Buffer.concat([head, Buffer.alloc(2 * heartbeats, Buffer.from("1a00", "hex"))]);
      const body = framed(gzipSync(message), { compressed: true });
      return beginCall(session, workflowMethod("RecordWorkerHeartbeat"), [body], true).ended;
    };
    const used = await processorTime(async () => {
      for (let count = 0; count < 5; count += 1)
        expect(await ask(2_000_000)).toEqual({
          status: status.INVALID_ARGUMENT,
          details: "the request has 4000009 bytes and may have 262144",
        });
      expect(await ask(100_000)).toEqual({
        status: status.INVALID_ARGUMENT,
        details: "the request has more than the 1000 fields that it may have",
      });
    });
    expect(used).toBeLessThan(1_500);
    expect(received).toEqual([]);
  });

  it("looks up who may answer an activity without decoding what its seed has reported", async () => {
    const { received, ask } = await start(empty(1_000_000));
    const named = { namespace, workflowId: "w", runId: "r", activityId: "wait" };
    const request = messages.RespondActivityTaskCompletedByIdRequest.encode(named).finish();
    const used = await processorTime(async () => {
      for (let count = 0; count < 5; count += 1) await ask("RespondActivityTaskCompletedById", request);
    });
    expect(received).toHaveLength(5);
    expect(used).toBeLessThan(1_500);
  });

  it("hands out a task without decoding what its seed has reported", async () => {
    const { ask } = await start(empty(1_000_000));
    const request = messages.PollActivityTaskQueueRequest.encode({ namespace, taskQueue: { name: QUEUE } }).finish();
    const used = await processorTime(async () => {
      for (let count = 0; count < 5; count += 1) expect((await ask(POLL, request)).length).toBeGreaterThan(2_000_000);
    });
    expect(used).toBeLessThan(1_500);
  });

  it("hands out a task whole, but for its token", async () => {
    const { poll } = await start({ payloads: [{ data: Buffer.from("half") }] });
    const { taskToken, ...task } = await poll();
    expect(task).toMatchObject({ activityId: "1", attempt: 2 });
    expect(Buffer.from(task.heartbeatDetails?.payloads?.[0]?.data ?? []).toString()).toBe("half");
    expect(Buffer.from(taskToken).toString("latin1")).toMatch(/.{34}of Temporal$/s);
  });
});
