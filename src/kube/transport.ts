import { setTimeout as sleep } from "node:timers/promises";
import type { Dispatcher } from "undici";
import request from "undici/lib/api/api-request.js";
import type { Logger } from "../log.ts";
import type { CredentialSource } from "./credentials.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { parseJson } from "../parsing.ts";
import { readBytes } from "../read-text.ts";
import { AnswerTooLong, refuseDense, type Bounds } from "./bounds.ts";
import { createPools } from "./pools.ts";
import { KubeError } from "./errors.ts";
import { connectionError, credentialsError, refusalError } from "./refusal.ts";

/** One request; `what` names the call in errors: "apply Deployment ns/name". */
export interface Call {
  readonly what: string;
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query, from the server's root. */
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  readonly signal?: AbortSignal;
  /** In bytes: a longer answer is an error, also where the connection allows it, and so is one of far too many values. */
  readonly largestAnswer?: number;
}

/** The connections to one API server under one identity. */
export interface Transport {
  readonly server: string;
  /** The answer, parsed if it is JSON; a KubeError when it is not a success. */
  call(call: Call): Promise<unknown>;
  /** The answer's body as it comes; ends with a KubeError when nothing came for two and a half minutes. */
  stream(call: Call): Promise<AsyncIterable<Uint8Array>>;
  close(): Promise<void>;
}

/** The identity of the calls and the name that they are made under; warnings and pauses are logged, and warnings of writes told. */
export interface TransportDeps {
  readonly credentials: CredentialSource;
  readonly userAgent: string;
  readonly log?: Logger;
  /** Is told what the API server warns of when something is written, without its code. */
  readonly onWarning?: (text: string) => void;
  /** What is longer is not read to its end. */
  readonly bounds?: Pick<Bounds, "largestAnswer">;
}

/**
 * Keeps HTTP/1.1 connections to one API server open: 16 for calls, one per stream besides.
 * Waits out 429 (at most 30 s), renews credentials once on 401, repeats a GET once whose connection was reset.
 */
export function createTransport(deps: TransportDeps): Transport {
  const { server } = deps.credentials;
  const pools = createPools();
  const door: Door = { ...deps, server, pools };
  return {
    server,
    call: (call) =>
      accepted(door, call, "calls")
        .then((answer) => content(door, call, answer))
        .catch(explain(server, call)),
    stream: async (call) => {
      const { body } = await accepted(door, call, "streams").catch(explain(server, call));
      return explained(body as AsyncIterable<Uint8Array>, explain(server, call));
    },
    close: () => pools.close(),
  };
}

interface Door extends TransportDeps {
  readonly server: string;
  readonly pools: ReturnType<typeof createPools>;
}

type Pool = "calls" | "streams";

/** The answer if it is a success; throws the server's refusal otherwise. */
async function accepted(door: Door, call: Call, pool: Pool): Promise<Answer> {
  const answer = await sendPatiently(door, call, pool);
  for (const warning of [answer.headers["warning"] ?? []].flat()) {
    door.log?.warn({ server: door.server, call: call.what, warning }, "the API server warns");
    if ((call.method ?? "GET") !== "GET") door.onWarning?.(textOfWarning(warning));
  }
  if (answer.statusCode < 300) return answer;
  throw refusalError(call.what, {
    status: answer.statusCode,
    body: await content(door, call, answer),
    server: door.server,
    retryAfter: retryAfter(answer),
  });
}

/** The text of a warning header, such as `299 - "is unknown"` (RFC 7234, section 5.5). */
const textOfWarning = (header: string): string =>
  /^\d{3} \S+ "(.*)"/s.exec(header)?.[1]?.replaceAll(/\\(.)/gs, "$1") ?? header;

/** Sends the call again after a pause that the server asks for, and once with new credentials. */
async function sendPatiently(door: Door, call: Call, pool: Pool): Promise<Answer> {
  let renewed = false;
  for (let waited = 0; ;) {
    const answer = await sendOnce(door, call, pool);
    if (answer.statusCode === 401 && !renewed) {
      await answer.body.dump();
      door.credentials.renew();
      renewed = true;
      continue;
    }
    const pause = throttled(answer);
    if (pause === undefined || waited + pause > timeout) return answer;
    await answer.body.dump();
    door.log?.debug({ server: door.server, call: call.what, pause }, "the API server asks to wait");
    await sleep(pause, undefined, omitUndefined({ signal: call.signal }));
    waited += pause;
  }
}

async function sendOnce({ credentials, server, pools, userAgent }: Door, call: Call, pool: Pool): Promise<Answer> {
  const { tls, authorization } = await credentials.current().catch((error: unknown) => {
    throw credentialsError(call.what, server, error);
  });
  const { origin, pathname, search } = new URL(server + call.path);
  const options = {
    origin,
    path: pathname + search,
    method: call.method ?? "GET",
    headers: omitUndefined({
      accept: call.accept ?? "application/json",
      "user-agent": userAgent,
      "content-type": call.body === undefined ? undefined : (call.contentType ?? "application/json"),
      authorization,
    }),
    ...omitUndefined({ body: call.body === undefined ? undefined : JSON.stringify(call.body), signal: call.signal }),
  };
  const agent = pools.use(tls)[pool];
  return request.call(agent, options).catch((error: unknown) => {
    if (options.method !== "GET" || !wasReset(error)) throw error;
    return request.call(agent, options);
  });
}

async function* explained(
  body: AsyncIterable<Uint8Array>,
  explain: (error: unknown) => never,
): AsyncIterable<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    explain(error);
  }
}

/** Turns what went wrong into a KubeError, and an abort into the caller's own reason. */
const explain =
  (server: string, call: Call) =>
  (error: unknown): never => {
    if (call.signal?.aborted === true) throw call.signal.reason;
    throw error instanceof KubeError ? error : connectionError(call.what, server, error);
  };

type Answer = Dispatcher.ResponseData;

const timeout = 30_000;

/** Milliseconds to wait before asking again, if the server wants that. */
function throttled(answer: Answer): number | undefined {
  const seconds = retryAfter(answer);
  if (answer.statusCode === 429) return (seconds ?? 1) * 1000;
  return answer.statusCode === 503 && seconds !== undefined ? seconds * 1000 : undefined;
}

/** In seconds. Users' webhooks and aggregated APIs answer, too: who asks for years would put off the work for as long. */
function retryAfter({ headers }: Answer): number | undefined {
  const seconds = Number(headers["retry-after"]);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0.1), LONGEST_RETRY_AFTER) : undefined;
}

const LONGEST_RETRY_AFTER = 60;

function wasReset(error: unknown): boolean {
  return (
    error instanceof Error && "code" in error && ["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"].includes(String(error.code))
  );
}

/** The shorter of what the connection and what the call allow; undefined where neither says anything. */
function limitOf({ bounds }: Door, call: Call): number | undefined {
  const limits = [bounds?.largestAnswer, call.largestAnswer].filter((limit) => limit !== undefined);
  return limits.length === 0 ? undefined : Math.min(...limits);
}

async function content(door: Door, call: Call, { headers, body }: Answer): Promise<unknown> {
  const most = limitOf(door, call);
  const tooLong = () => new AnswerTooLong(`its answer is longer than ${most} bytes`);
  const bytes = most === undefined ? Buffer.from(await body.arrayBuffer()) : await readBytes(body, { most, tooLong });
  if (!String(headers["content-type"]).includes("json") || bytes.length === 0) return bytes.toString("utf8");
  if (most !== undefined) refuseDense(bytes, most);
  return parseJson(bytes.toString("utf8"), "the answer");
}
