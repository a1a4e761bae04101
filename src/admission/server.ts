import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Logger } from "../log.ts";
import { excessOf } from "../json-measure.ts";
import { limitConnections } from "../limit-connections.ts";
import { readBytes } from "../read-text.ts";
import { createLargeRequests } from "./large-requests.ts";
import { largeRequest, requestLimits, waitingRequests } from "./limits.ts";
import { measureReview } from "./request-size.ts";
import { limitWaitingConnections } from "./waiting-connections.ts";
import { mostCauses, readReview, writeReview, type Webhook } from "./review.ts";

/** A serving certificate with its chain, and its key, in PEM. */
export interface ServingCertificate {
  readonly cert: string;
  readonly key: string;
}

/** What a webhook server serves, and where; port 0 takes a free one. */
export interface WebhookServerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: ServingCertificate;
  /** PEM: whom this authority has given a certificate may call. Without it, every caller is answered. */
  readonly clientCa?: string;
  readonly log: Logger;
  /** Webhooks by their path, such as `/validate/shoots`. */
  readonly webhooks: Readonly<Record<string, Webhook>>;
}

/** An HTTPS server for admission webhooks. */
export interface WebhookServer {
  /** Begins to listen and returns the port. */
  start(): Promise<number>;
  /** Serves another certificate from the next connection on; open connections stay. */
  renew(tls: ServingCertificate): void;
  /** Answers what has been asked, closes all connections. */
  stop(): Promise<void>;
}

/**
 * Serves webhooks to API servers. A request that cannot be judged is answered with 500, which an API server reports to
 * the sender as an internal error that can be tried again; one for which there is no memory now with 429, which an API server
 * repeats itself until the webhook's time is over.
 */
export function createWebhookServer(o: WebhookServerOptions): WebhookServer {
  const { host, port, log, webhooks, clientCa } = o;
  const context = (tls: ServingCertificate) => ({ ...tls, ...(clientCa && { ca: clientCa }), minVersion }) as const;
  const answering = new Set<ServerResponse>();
  const callers = { requestCert: clientCa !== undefined, rejectUnauthorized: clientCa !== undefined };
  const large = createLargeRequests(waitingRequests);
  const server = createServer({ ...context(o.tls), ...callers, ...times }, (request, response) => {
    answering.add(response);
    response.once("close", () => answering.delete(response));
    answer(request, response).catch((error: unknown) => {
      log.error({ err: error, path: request.url }, "cannot answer an admission request");
      send(response, error instanceof BadRequest ? error.status : 500, messageOf(error));
    });
  });
  const handshakes = limitConnections(server, MOST_HANDSHAKES, "secureConnection");
  limitWaitingConnections(server, MOST_WAITING);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? "/", "https://localhost").pathname;
    const webhook = webhooks[path];
    if (!webhook) return send(response, 404, `there is no webhook at ${path}`);
    if (request.method !== "POST") return send(response, 405, "an admission request is a POST");
    const announced = Math.min(Number(request.headers["content-length"] ?? Infinity), requestLimits.bytes);
    const isLarge = announced > largeRequest;
    const giveBack = isLarge ? large.hold(announced) : undefined;
    if (isLarge && giveBack === undefined) throw tooManyWait();
    try {
      const body = await bodyOf(request);
      const judged = async () => (response.destroyed ? "" : await answerReview(webhook, body, log));
      send(response, 200, await (isLarge ? large.oneByOne(judged) : judged()), "application/json");
    } finally {
      giveBack?.();
    }
  }

  return {
    async start() {
      server.listen(port, host);
      await once(server, "listening");
      return (server.address() as AddressInfo).port;
    },
    renew: (tls) => server.setSecureContext(context(tls)),
    async stop() {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      await Promise.all([...answering].map((response) => once(response, "close")));
      handshakes.endAll();
      server.closeAllConnections(); // also those that an API server has opened and not used yet: Node calls them busy
      await closed;
    },
  };
}

/** The AdmissionReview that answers the one in a body. Throws for a body that is none, and for one that is too large to be judged. */
export async function answerReview(webhook: Webhook, body: Buffer, log: Logger): Promise<string> {
  const excess = excessOf(measureReview(body, requestLimits), requestLimits);
  if (excess !== undefined) return refuseUnread(body, excess);
  const review = read(body);
  const verdict = await webhook(review);
  const { operation, kind, namespace, name, userInfo } = review;
  const fields = { operation, kind: kind.kind, namespace, name, user: userInfo.username };
  if (verdict.allowed) log.debug(fields, "request admitted");
  else log.info({ ...fields, causes: verdict.causes.slice(0, mostCauses) }, "request refused");
  return writeReview(review, verdict);
}

const minVersion = "TLSv1.2";

/** In ms. An API server gives a request up after 10 s; it keeps idle connections for 90 s, and to close them first would reset a request on its way. */
const times = {
  handshakeTimeout: 10_000,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 120_000,
};

/** Handshakes take milliseconds: of more that are unfinished, the oldest is no API server's. */
const MOST_HANDSHAKES = 256;

/** An API server keeps few connections that wait, and opens another where one has ended. */
export const MOST_WAITING = 256;

class BadRequest extends Error {
  readonly status: number;
  constructor(status: number, message: string, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

const tooLarge = (excess: string) =>
  new BadRequest(413, `an admission request ${excess}: write a smaller object, or one that is no larger than it was`);

const tooManyWait = () =>
  new BadRequest(
    429,
    `admission requests of more than ${largeRequest} bytes that are not judged yet have ${waitingRequests} bytes together, as many as they may: try again in a few seconds`,
  );

const bodyOf = (request: IncomingMessage): Promise<Buffer> =>
  readBytes(request, {
    most: requestLimits.bytes,
    drain: MOST_DRAINED,
    tooLong: () => tooLarge(`has at most ${requestLimits.bytes} bytes`),
  });

/** In bytes: more than an API server sends, which stores 1.5 MiB and takes 3 MiB. */
const MOST_DRAINED = 32 * 1024 * 1024;

/** Users read of a refusal, and of another answer only its status; a refusal bears the uid, which API servers write first. */
function refuseUnread(body: Buffer, excess: string): string {
  const [, uid] =
    /^\{"kind":"AdmissionReview",[^{}]{1,60}"request":\{"uid":"([-0-9a-f]{36})"/.exec(
      body.toString("latin1", 0, 200),
    ) ?? [];
  const { message, status: code } = tooLarge(excess);
  if (uid === undefined) throw tooLarge(excess);
  const status = { code, reason: "RequestEntityTooLarge", message };
  return JSON.stringify({
    ...{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" },
    response: { uid, allowed: false, status },
  });
}

function read(body: Buffer) {
  try {
    return readReview(body.toString("utf8"));
  } catch (cause) {
    throw new BadRequest(400, "the body is not an AdmissionReview of admission.k8s.io/v1", cause);
  }
}

function send(response: ServerResponse, status: number, body: string, type = "text/plain"): void {
  if (response.headersSent) return void response.destroy();
  const headers = { "content-type": type, "content-length": Buffer.byteLength(body) };
  response.writeHead(status, status === 429 ? { ...headers, "retry-after": "1" } : headers).end(body);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
