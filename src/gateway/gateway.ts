import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import type { Logger } from "../log.ts";
import { createConnections, type Connections, type Peer } from "./connections.ts";
import { deadlineOf, passedOn } from "./headers.ts";
import { identityOf, type Identity } from "./identity.ts";
import { createQuotas, defaultLimits, type AllLimits, type Lease } from "./limits.ts";
import { methods, polls } from "./messages.ts";
import { createRefusalLog } from "./refusal-log.ts";
import { Refusal } from "./refusal.ts";
import { createSeedRights } from "./seed-rights.ts";
import type { ServerFiles } from "./server-credentials.ts";
import type { TaskTokens } from "./task-tokens.ts";
import { readMessage, sendMessage, sendStatus, type Status } from "./unary-call.ts";
import type { Upstream } from "./upstream.ts";

/** What the gateway stands before, and how it knows its callers. */
export interface GatewayDeps {
  readonly upstream: Upstream;
  /** Temporal's namespace that seeds work in. */
  readonly namespace: string;
  readonly files: ServerFiles;
  readonly tokens: TaskTokens;
  readonly limits?: AllLimits;
  /** In ms: how long a request may take to arrive, and an answer to be read. */
  readonly arrival?: number;
  readonly reading?: number;
  /** In ms: what a refused call costs a caller that repeats it at once. */
  readonly pause?: number;
  readonly log: Logger;
}

/**
 * Passes calls on to Temporal's frontend: all calls of the garden as they are, and those of a seed's worker as far as
 * `createSeedRights` says, each caller within its limits. Open-source Temporal knows no rights by queue, and an activity runs
 * in the namespace of its workflow.
 */
export async function createGateway(deps: GatewayDeps): Promise<Connections> {
  const {
    upstream,
    namespace,
    files,
    tokens,
    limits = defaultLimits,
    arrival = 15_000,
    reading = 60_000,
    pause = 1_000,
    log,
  } = deps;
  const permit = createSeedRights({ namespace, tokens });
  const quotas = createQuotas(limits);
  const refusals = createRefusalLog(log);

  const pass = async (call: Call, lease: Lease, caller: Identity): Promise<Uint8Array> => {
    const { stream, headers, path } = call;
    quotas.count(caller, path.endsWith("ById") ? 2 : 1); // one more asks whose the activity is
    if (!known.has(path)) throw new Refusal(status.UNIMPLEMENTED, "the gateway does not know this method");
    lease.take(polls.has(path) ? "polls" : "calls");
    const deadline = Math.min(deadlineOf(headers), latestEnd(call, caller));
    const request = await readMessage(stream, {
      encoding: String(headers["grpc-encoding"]),
      reserve: (bytes) => lease.take("bytes", bytes),
      within: arrival,
    });
    log.debug({ caller: caller.name, path }, "call");
    const counted: Pick<Upstream, "call"> = {
      async call(onward) {
        const bytes = await upstream.call(onward);
        lease.keep(bytes.length, () => stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM));
        return bytes;
      },
    };
    const onward = { path, request, metadata: passedOn(headers, caller), deadline, cancelled: cancellationOf(stream) };
    if (caller.kind === "garden") return await counted.call(onward);
    const permitted = await permit(caller, { path, request, upstream: counted });
    if ("answered" in permitted) return permitted.answered;
    const { answer = asItIs, ...asked } = permitted;
    return answer(await counted.call({ ...onward, ...asked }));
  };

  const refuse = async ({ stream, path, peer }: Call, error: unknown, caller?: Identity): Promise<void> => {
    const said = statusOf(error);
    const fields = { caller: caller?.name, peer: peer.address, path: known.has(path) ? path : undefined };
    // That an activity does not wait any more is everyday life.
    if (said.code === status.NOT_FOUND) log.debug({ ...fields, reason: said.details }, "call refused");
    else if (error instanceof Refusal)
      refusals.warn(`${caller?.name} ${fields.path} ${error.code}`, { ...fields, reason: error.message });
    stream.resume();
    if (paused.has(said.code)) await sleep(pause, undefined, { ref: false });
    sendStatus(stream, said);
  };

  const serve = async (call: Call): Promise<void> => {
    let caller: Identity | undefined;
    try {
      caller = authenticate(call.peer);
      const lease = quotas.open(caller);
      call.stream.once("close", () => lease.close());
      sendMessage(call.stream, await pass(call, lease, caller), reading);
    } catch (error) {
      await refuse(call, error, caller);
    }
  };

  const connections = await createConnections({
    files,
    log,
    admit({ certificate, address }) {
      const lease = quotas.open(identityOf(certificate) ?? unidentified);
      try {
        lease.take("connections");
      } catch (error) {
        const { name } = identityOf(certificate) ?? unidentified;
        refusals.warn(`${name} connections`, { caller: name, peer: address, reason: (error as Refusal).message });
        throw error;
      }
      return () => lease.close();
    },
    serve: (stream, headers, peer) => void serve({ stream, headers, peer, path: headers[":path"] ?? "" }),
  });
  return {
    ...connections,
    async stop() {
      await connections.stop();
      refusals.stop();
      upstream.close();
    },
  };
}

interface Call {
  readonly stream: ServerHttp2Stream;
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
  readonly peer: Peer;
}

const known: ReadonlySet<string> = new Set(methods);

/** Callers whose certificates name neither the garden nor a seed share one limit. */
const unidentified = { kind: "seed", name: "callers that are neither the garden nor a seed" } as const;

/** Statuses of calls that are repeated, or that a worker never makes. */
const paused: ReadonlySet<status> = new Set([
  status.RESOURCE_EXHAUSTED,
  status.UNAUTHENTICATED,
  status.PERMISSION_DENIED,
  status.INVALID_ARGUMENT,
]);

const asItIs = (bytes: Uint8Array): Uint8Array => bytes;

/** Who calls. A connection may outlive its certificate, so that the certificate's time is looked at for each call. */
function authenticate({ certificate }: Peer): Identity {
  if (Date.parse(certificate.valid_to) <= Date.now())
    throw new Refusal(status.UNAUTHENTICATED, `the client certificate has expired on ${certificate.valid_to}`);
  const identity = identityOf(certificate);
  if (identity === undefined)
    throw new Refusal(
      status.UNAUTHENTICATED,
      "the subject of the client certificate is neither the garden's nor a seed's",
    );
  return identity;
}

/** The latest deadline, as a time in ms. SDKs end a poll after 70 seconds; calls of the garden may wait for a workflow. */
const latestEnd = ({ path }: Call, { kind }: Identity): number =>
  Date.now() + (polls.has(path) || kind === "garden" ? 70_000 : 30_000);

function cancellationOf(stream: ServerHttp2Stream): AbortSignal {
  const controller = new AbortController();
  if (stream.destroyed) controller.abort();
  stream.once("close", () => controller.abort());
  return controller.signal;
}

/** The frontend's own status with its details, which SDKs read, or the gateway's. */
function statusOf(error: unknown): Status {
  if (error instanceof Refusal) return { code: error.code, details: error.message };
  const { code, details = "", metadata } = error as Partial<Status>;
  if (typeof code !== "number") return { code: status.INTERNAL, details: "the gateway cannot pass the call on" };
  return { code, details, ...(metadata === undefined ? {} : { metadata }) };
}
