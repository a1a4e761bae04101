import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { createServer, type Server } from "node:https";
import { TLSSocket } from "node:tls";
import type { PayloadCodec } from "@temporalio/common";
import { fromJson, toJson, type JsonPayloads } from "../client/payloads/json.ts";
import { limitConnections } from "../limit-connections.ts";
import type { Logger } from "../log.ts";
import { parseJson } from "../parsing.ts";
import { readText } from "../read-text.ts";
import { identityOf } from "./identity.ts";
import { followCredentials, readCredentials, type ServerFiles } from "./server-credentials.ts";

/** What the codec server decrypts with, and to whom. */
export interface CodecServerDeps {
  readonly codec: PayloadCodec;
  readonly files: ServerFiles;
  /** The origin of Temporal's UI; no page of another may read the answers. */
  readonly origin?: string | undefined;
  /** Opens the server like a certificate of the garden. */
  readonly token?: string | undefined;
  readonly log: Logger;
}

/** Serves Temporal's codec protocol. */
export interface CodecServer {
  /** Resolves with the port. */
  start(address: { readonly host: string; readonly port: number }): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Decrypts payloads for Temporal's UI and CLI: POST `/decode` and `/encode`. It answers callers with a certificate of the
 * garden, or with the token; seeds' workers are neither. It follows the files of its own certificate.
 */
export async function createCodecServer({ codec, files, origin, token, log }: CodecServerDeps): Promise<CodecServer> {
  const server = createServer({ ...(await readCredentials(files)), ...BOUNDS });
  const connections = limitConnections(server, MOST_CONNECTIONS);
  server.on("request", (request, response) => {
    const headers = corsHeaders(request, origin);
    answer(request, codec, (caller) => isAllowed(caller, token)).then(
      ({ status, body }) => response.writeHead(status, { ...headers, "content-type": "application/json" }).end(body),
      (error: unknown) => {
        log.warn({ err: error }, "payloads cannot be decoded");
        response.writeHead(400, headers).end();
      },
    );
  });
  const following = followCredentials(server, files, log);
  return {
    start: ({ host, port }) => listen(server, host, port),
    stop: () =>
      new Promise((resolve) => {
        following.stop();
        server.close(() => resolve());
        connections.endAll();
      }),
  };
}

/** Who has no certificate may show the token. Times are ms. */
const BOUNDS = {
  requestCert: true,
  rejectUnauthorized: false,
  handshakeTimeout: 10_000,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
};

const MOST_CONNECTIONS = 100;

interface Answer {
  readonly status: number;
  readonly body: string;
}

async function answer(
  request: IncomingMessage,
  codec: PayloadCodec,
  isAllowed: (request: IncomingMessage) => boolean,
): Promise<Answer> {
  if (request.method === "OPTIONS") return { status: 204, body: "" }; // browsers ask without showing who they are
  const work = works[new URL(request.url ?? "/", "https://codec").pathname];
  if (request.method !== "POST" || work === undefined) return { status: 404, body: "{}" };
  if (!isAllowed(request)) return { status: 401, body: "{}" };
  const { payloads = [] } = parseJson(await readBody(request), "the request") as JsonPayloads;
  const done = await codec[work](payloads.map(fromJson));
  return { status: 200, body: JSON.stringify({ payloads: done.map(toJson) } satisfies JsonPayloads) };
}

const works: Readonly<Record<string, "encode" | "decode">> = { "/encode": "encode", "/decode": "decode" };

function isAllowed({ socket, headers }: IncomingMessage, token: string | undefined): boolean {
  if (socket instanceof TLSSocket && socket.authorized) {
    const certificate = socket.getPeerCertificate();
    if (identityOf(certificate)?.kind === "garden" && Date.parse(certificate.valid_to) > Date.now()) return true;
  }
  return token !== undefined && token !== "" && isSame(headers.authorization ?? "", `Bearer ${token}`);
}

const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

function corsHeaders(request: IncomingMessage, origin: string | undefined): Record<string, string> {
  if (origin === undefined || request.headers.origin !== origin) return {};
  return {
    "access-control-allow-origin": origin,
    "access-control-allow-credentials": "true",
    "access-control-allow-headers": "authorization, content-type, x-namespace",
    "access-control-allow-methods": "POST",
    vary: "Origin",
  };
}

const readBody = (request: IncomingMessage): Promise<string> =>
  readText(request, {
    most: LARGEST_BODY,
    drain: 4 * LARGEST_BODY,
    tooLong: () => new Error(`a request is larger than ${LARGEST_BODY} bytes`),
  });

/** In bytes; Temporal's UI sends a page of a history, of 4 MB at most, as base64. */
const LARGEST_BODY = 8 * 1024 * 1024;

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}
