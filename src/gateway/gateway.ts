import {
  Metadata,
  Server,
  status,
  type sendUnaryData,
  type ServerCredentials,
  type ServerUnaryCall,
  type ServiceDefinition,
  type StatusObject,
} from "@grpc/grpc-js";
import type { Logger } from "../log.ts";
import { identityOf, type Identity } from "./identity.ts";
import { methods } from "./messages.ts";
import { Refusal } from "./refusal.ts";
import { createSeedRights } from "./seed-rights.ts";
import type { TaskTokens } from "./task-tokens.ts";
import type { Upstream } from "./upstream.ts";

/** What the gateway stands before, and how it knows its callers. */
export interface GatewayDeps {
  readonly upstream: Upstream;
  /** Temporal's namespace that seeds work in. */
  readonly namespace: string;
  /** They have to ask for client certificates, and to verify them. */
  readonly credentials: ServerCredentials;
  readonly tokens: TaskTokens;
  readonly log: Logger;
}

/** Stands before Temporal's frontend. */
export interface Gateway {
  /** Resolves with the port. */
  start(address: { readonly host: string; readonly port: number }): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Passes calls on to Temporal's frontend: all calls of the garden as they are, and those of a seed's worker as far as
 * `createSeedRights` says. Open-source Temporal knows no rights by queue, and an activity runs in the namespace of its workflow.
 */
export function createGateway({ upstream, namespace, credentials, tokens, log }: GatewayDeps): Gateway {
  const permit = createSeedRights({ namespace, tokens, upstream });
  const server = new Server({
    "grpc.max_connection_age_ms": LONGEST_CONNECTION,
    "grpc.max_connection_age_grace_ms": LONGEST_POLL,
  });

  const pass = async (path: string, call: Call): Promise<Uint8Array> => {
    const caller = authenticate(call);
    log.debug({ caller: caller.name, path }, "call");
    const onward = {
      path,
      metadata: passedOn(call.metadata),
      deadline: call.getDeadline(),
      cancelled: cancellationOf(call),
    };
    if (caller.kind === "garden") return await upstream.call({ ...onward, request: call.request });
    const { request, answer = asItIs } = await permit(caller, path, call.request);
    return answer(await upstream.call({ ...onward, request }));
  };

  /** That an activity does not wait any more is everyday life. */
  const logRefusal = (fields: object, code: status) =>
    log[code === status.NOT_FOUND ? "debug" : "warn"](fields, "call refused");

  const handle = (path: string) => (call: Call, callback: sendUnaryData<Uint8Array>) => {
    pass(path, call).then(
      (bytes) => callback(null, bytes),
      (error: unknown) => {
        if (error instanceof Refusal) logRefusal({ peer: call.getPeer(), path, reason: error.message }, error.code);
        callback(statusOf(error));
      },
    );
  };

  server.addService(definition, Object.fromEntries(methods.map((path) => [path, handle(path)])));

  return {
    start: ({ host, port }) =>
      new Promise((resolve, reject) => {
        const at = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
        server.bindAsync(at, credentials, (error, bound) => (error === null ? resolve(bound) : reject(error)));
      }),
    stop: () =>
      new Promise((resolve) => {
        const force = setTimeout(() => server.forceShutdown(), GRACE);
        server.tryShutdown(() => {
          clearTimeout(force);
          upstream.close();
          resolve();
        });
      }),
  };
}

type Call = ServerUnaryCall<Uint8Array, Uint8Array>;

/** In ms: after this a caller connects anew, and so shows its certificate again; Temporal's own frontend does the same. */
const LONGEST_CONNECTION = 5 * 60_000;

/** In ms. */
const LONGEST_POLL = 70_000;

/** In ms: what stopping leaves calls that are under way. Polls are cut off; their callers poll elsewhere. */
const GRACE = 2_000;

const asItIs = (bytes: Uint8Array): Uint8Array => bytes;

const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes);

const definition: ServiceDefinition = Object.fromEntries(
  methods.map((path) => {
    const bytes = { requestSerialize: toBuffer, requestDeserialize: asItIs, responseSerialize: toBuffer };
    return [path, { path, requestStream: false, responseStream: false, ...bytes, responseDeserialize: asItIs }];
  }),
);

/** Who calls. A connection may outlive its certificate, so that the certificate's time is looked at for each call. */
function authenticate(call: Call): Identity {
  const { sslPeerCertificate: certificate } = call.getAuthContext();
  if (certificate === undefined) throw new Refusal(status.UNAUTHENTICATED, "the gateway asks for a client certificate");
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

/** What a caller says of itself; not who it says that it is. */
function passedOn(metadata: Metadata): Metadata {
  const kept = new Metadata();
  for (const name of [
    "client-name",
    "client-version",
    "supported-server-versions",
    "caller-type",
    "temporal-namespace",
  ])
    for (const value of metadata.get(name)) kept.add(name, value);
  return kept;
}

function cancellationOf(call: Call): AbortSignal {
  const controller = new AbortController();
  call.once("cancelled", () => controller.abort());
  return controller.signal;
}

/** The frontend's own status with its details, which SDKs read, or the gateway's. */
function statusOf(error: unknown): Partial<StatusObject> {
  if (error instanceof Refusal) return { code: error.code, details: error.message };
  const { code, details, metadata } = error as Partial<StatusObject>;
  if (typeof code !== "number") return { code: status.INTERNAL, details: "the gateway cannot pass the call on" };
  return { code, details: details ?? "", ...(metadata === undefined ? {} : { metadata }) };
}
