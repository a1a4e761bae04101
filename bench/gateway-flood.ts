import { status } from "@grpc/grpc-js";
import type { TemporalAddress } from "../src/client/connect.ts";
import { messages, workflowMethod } from "../src/gateway/messages.ts";
import { seedQueue } from "../src/workflows/contract.ts";
import { bareCaller, beginCall, framed, rawCaller } from "../test/support/lone-gateway.ts";

/** What a process of the bench sends to the gateway until it is killed. */
export interface Flood {
  readonly kind: "polls" | "unfinished requests";
  /** Whose queue is polled. */
  readonly seed: string;
  /** The gateway's for each seed that sends. */
  readonly addresses: readonly TemporalAddress[];
  /** For each seed. */
  readonly count: number;
}

process.once("message", (flood: Flood) => void begin(flood));
process.send?.("ready");

async function begin(flood: Flood): Promise<void> {
  for (const address of flood.addresses) await (flood.kind === "polls" ? beginPolls : beginRequests)(flood, address);
  process.send?.("begun");
}

/** Has so many polls under way at once: each that is refused is repeated. Resolves when the first is refused. */
async function beginPolls({ seed, count }: Flood, address: TemporalAddress): Promise<void> {
  const path = workflowMethod("PollActivityTaskQueue");
  const taskQueue = { name: seedQueue(seed) };
  const request = messages.PollActivityTaskQueueRequest.encode({ namespace: "default", taskQueue }).finish();
  const callers = Array.from({ length: 8 }, () => rawCaller(address));
  const refused = Promise.withResolvers<void>();
  const pollAgain = async (index: number) => {
    for (;;)
      await callers[index % callers.length]?.call({ path, request }).catch(({ code }: { code: status }) => {
        if (code === status.RESOURCE_EXHAUSTED) refused.resolve();
      });
  };
  for (let index = 0; index < count; index += 1) void pollAgain(index);
  await refused.promise;
}

/** Sends requests of the largest size but for their last byte, and does not finish those that are not refused. */
async function beginRequests({ count }: Flood, address: TemporalAddress): Promise<void> {
  const session = await bareCaller(address);
  const body = framed(Buffer.alloc(LARGEST - 1), { length: LARGEST });
  for (let index = 0; index < count; index += 1) beginCall(session, workflowMethod("GetSystemInfo"), [body]);
}

/** In bytes: what a message may have at the gateway. */
const LARGEST = 4 * 1024 * 1024;
