import { status } from "@grpc/grpc-js";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { messages, workflowMethod } from "../../../src/gateway/messages.ts";
import type { Upstream, UpstreamCall } from "../../../src/gateway/upstream.ts";
import { seedQueue } from "../../../src/workflows/contract.ts";
import { rawCaller, startLoneGateway, type LoneGateway } from "../../support/lone-gateway.ts";

// What Temporal keeps by keys that its caller chooses, it counts and does not measure: seeds fill its memory by long ones.

const received: UpstreamCall[] = [];
let gateway: LoneGateway;
let caller: Upstream;

beforeAll(async () => {
  const upstream: Upstream = {
    async call(call) {
      received.push(call);
      return await Promise.resolve(new Uint8Array());
    },
    close: () => undefined,
  };
  gateway = await startLoneGateway({ upstream, pause: 1 });
  caller = rawCaller(await gateway.asSeed("seed-1"));
});
beforeEach(() => void received.splice(0));
afterAll(async () => {
  caller.close();
  await gateway.stop();
});

const namespace = "default";
const taskQueue = seedQueue("seed-1");
const uuid = "4b5f2f8e-3f0e-4a4c-9d53-0e8a1d3a5f10";
const long = "x".repeat(256);

const ask = (method: string, request: Uint8Array) => caller.call({ path: workflowMethod(method), request });

it("heartbeats of a seed's worker are answered, and do not reach Temporal", async () => {
  const workerHeartbeat = Array.from({ length: 300 }, (_, n) => ({ workerInstanceKey: `w${n}`, taskQueue }));
  const request = messages.RecordWorkerHeartbeatRequest.encode({ namespace, workerHeartbeat }).finish();
  expect(await ask("RecordWorkerHeartbeat", request)).toHaveLength(0);
  expect(received).toEqual([]);
});

it("a poll names its worker, and not by a text of any length", async () => {
  const polled = (named: object) =>
    ask(
      "PollActivityTaskQueue",
      messages.PollActivityTaskQueueRequest.encode({ namespace, taskQueue: { name: taskQueue }, ...named }).finish(),
    );
  for (const field of ["identity", "workerInstanceKey", "pollerGroupId"])
    await expect(polled({ [field]: long }), field).rejects.toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: `${field} has 256 bytes and may have 255`,
    });
  await expect(polled({ workerInstanceKey: "ä".repeat(128) })).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
  expect(received).toEqual([]);
  const named = { identity: "1@host", workerInstanceKey: uuid, pollerGroupId: "group" };
  await polled(named);
  expect(messages.PollActivityTaskQueueRequest.decode(received[0]?.request ?? new Uint8Array())).toMatchObject(named);
});

it("the end of a seed's worker concerns one worker, and its activities alone", async () => {
  const ended = (named: object) =>
    ask("ShutdownWorker", messages.ShutdownWorkerRequest.encode({ namespace, taskQueue, ...named }).finish());
  for (const field of ["identity", "reason", "workerInstanceKey"])
    await expect(ended({ [field]: long }), field).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
  expect(received).toEqual([]);
  // Temporal asks each partition of the queue once for each type in this list.
  await ended({ workerInstanceKey: uuid, taskQueueTypes: Array.from({ length: 100_000 }, (_, n) => n % 4) });
  const { workerInstanceKey, taskQueueTypes } = messages.ShutdownWorkerRequest.decode(
    received[0]?.request ?? new Uint8Array(),
  );
  expect({ workerInstanceKey, taskQueueTypes }).toEqual({ workerInstanceKey: uuid, taskQueueTypes: [2] });
});

it("an activity that waits has no id that Temporal would not have given", async () => {
  const waiting = { workflowId: "shoot/dev/a", runId: uuid, activityId: "wait" };
  const answered = (named: object) =>
    ask(
      "RespondActivityTaskCompletedById",
      messages.RespondActivityTaskCompletedByIdRequest.encode({ namespace, ...waiting, ...named }).finish(),
    );
  for (const field of ["workflowId", "runId", "activityId"])
    await expect(answered({ [field]: long }), field).rejects.toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: `${field} has 256 bytes and may have 255`,
    });
  expect(received).toEqual([]);
  await expect(answered({})).rejects.toMatchObject({ code: status.NOT_FOUND });
  expect(received).toHaveLength(1);
});
