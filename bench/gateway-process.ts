import { once } from "node:events";
import { status } from "@grpc/grpc-js";
import { messages, workflowMethod } from "../src/gateway/messages.ts";
import type { UpstreamCall } from "../src/gateway/upstream.ts";
import { seedQueue } from "../src/workflows/contract.ts";
import { startLoneGateway } from "../test/support/lone-gateway.ts";

/** The seed whose polls wait for ever: no task ever comes for it. */
const idle = seedQueue(process.argv[2] ?? "");

/** A frontend that has no tasks: an idle seed's polls wait, and all other calls are answered at once. */
async function call({ path, request, cancelled }: UpstreamCall): Promise<Uint8Array> {
  if (path !== workflowMethod("PollActivityTaskQueue")) return new Uint8Array();
  if (messages.PollActivityTaskQueueRequest.decode(request).taskQueue?.name !== idle) return new Uint8Array();
  if (cancelled !== undefined && !cancelled.aborted) await once(cancelled, "abort");
  throw Object.assign(new Error("cancelled"), { code: status.CANCELLED });
}

const gateway = await startLoneGateway({ upstream: { call, close: () => undefined } });
// Each message names a seed, and is answered with the address for it.
process.on("message", (seed: string) => void gateway.asSeed(seed).then((address) => process.send?.(address)));
process.once("disconnect", () => void gateway.stop());
process.send?.("ready");
