import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { channelCredentials } from "../../src/client/credentials.ts";
import type { TemporalAddress } from "../../src/client/connect.ts";
import { createGateway, type GatewayDeps } from "../../src/gateway/gateway.ts";
import { gardenGroup, seedsGroup, seedUser } from "../../src/gateway/identity.ts";
import { createTaskTokens } from "../../src/gateway/task-tokens.ts";
import { createUpstream, type Upstream } from "../../src/gateway/upstream.ts";
import { parseKeyFile } from "../../src/key-file.ts";
import { createPki, type CertificateRequest } from "../../src/local/cluster/pki.ts";
import { createLogger } from "../../src/log.ts";

/** Our gateway, and certificates for its callers. */
export interface LoneGateway {
  readonly port: number;
  /** The gateway's address, for the holder of a new certificate, which is signed by the authority of this name. */
  as(
    subject: Partial<CertificateRequest> & { readonly commonName: string },
    authority?: string,
  ): Promise<TemporalAddress>;
  asGarden(): Promise<TemporalAddress>;
  asSeed(seed: string): Promise<TemporalAddress>;
  stop(): Promise<void>;
}

/** Starts a gateway before whatever `upstream` is. */
export async function startLoneGateway(
  deps: Pick<GatewayDeps, "upstream"> & Partial<GatewayDeps>,
): Promise<LoneGateway> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-gateway-"));
  const pki = createPki(folder);
  const authority = await pki.authority("gateway");
  const server = await pki.issue(authority, { name: "server", commonName: "perennial:gateway", hosts: ["127.0.0.1"] });
  const key = { id: "test", secret: randomBytes(32).toString("base64") };
  const gateway = await createGateway({
    namespace: "default",
    files: { keyFile: server.keyFile, certFile: server.certificateFile, clientCaFile: authority.certificateFile },
    tokens: createTaskTokens(parseKeyFile(JSON.stringify({ keys: [key] }), "test")),
    log: createLogger({ name: "test", level: "silent" }),
    ...deps,
  });
  const port = await gateway.start({ host: "127.0.0.1", port: 0 });

  let count = 0;
  const as: LoneGateway["as"] = async (subject, by = "gateway") => {
    const { certificateFile, keyFile } = await pki.issue(await pki.authority(by), {
      name: `client-${(count += 1)}`,
      ...subject,
    });
    return {
      address: `127.0.0.1:${port}`,
      namespace: "default",
      caFile: authority.certificateFile,
      certFile: certificateFile,
      keyFile,
    };
  };
  return {
    port,
    as,
    asGarden: () => as({ organization: gardenGroup, commonName: "perennial:test" }),
    asSeed: (seed) => as({ organization: seedsGroup, commonName: seedUser(seed) }),
    async stop() {
      await gateway.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Temporal's frontend as a caller of the gateway sees it, in bytes, on a connection of its own and without retries. */
export function rawCaller({ address, namespace: _, ...files }: TemporalAddress): Upstream {
  const { credentials, channelArgs } = channelCredentials(files);
  return createUpstream({
    address,
    credentials,
    channelArgs: { ...channelArgs, "grpc.use_local_subchannel_pool": 1, "grpc.enable_retries": 0 },
  });
}

/** A caller's bare HTTP/2 connection. */
export async function bareCaller({ address, caFile = "", certFile = "", keyFile = "" }: TemporalAddress) {
  const [ca, cert, key] = await Promise.all([caFile, certFile, keyFile].map((file) => readFile(file)));
  const session = connect(`https://${address}`, { ca, cert, key } as Parameters<typeof connect>[1]);
  session.on("error", () => undefined);
  return session;
}

/** Begins a call, and sends what `body` is of it. Resolves with the gRPC status, or with the code that ended the stream. */
export function beginCall(session: ClientHttp2Session, path: string, body: readonly Buffer[], end = false) {
  const headers = {
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    "grpc-encoding": "gzip",
  };
  const stream = session.request(headers);
  const ended = new Promise<{ status?: number; details?: string; code?: number }>((resolve) => {
    const tell = (said: IncomingHttpHeaders) => {
      if (said["grpc-status"] === undefined) return;
      resolve({
        status: Number(said["grpc-status"]),
        details: decodeURIComponent((said["grpc-message"] as string | undefined) ?? ""),
      });
    };
    stream
      .on("response", tell)
      .on("trailers", tell)
      .on("error", () => undefined);
    stream.on("close", () => resolve({ code: stream.rstCode ?? 0 }));
  });
  stream.resume();
  for (const piece of body) stream.write(piece);
  if (end) stream.end();
  return { stream, ended };
}

/** A message as gRPC frames it. */
export function framed(message: Uint8Array, { compressed = false, length = message.length } = {}): Buffer {
  const prefix = Buffer.from([compressed ? 1 : 0, 0, 0, 0, 0]);
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, message]);
}
