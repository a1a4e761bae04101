import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Client } from "@temporalio/client";
import { channelCredentials } from "../../src/client/credentials.ts";
import { connectTemporal, type TemporalAddress } from "../../src/client/connect.ts";
import { createGateway } from "../../src/gateway/gateway.ts";
import { gardenGroup, seedsGroup, seedUser } from "../../src/gateway/identity.ts";
import { serverCredentials } from "../../src/gateway/server-credentials.ts";
import { createTaskTokens } from "../../src/gateway/task-tokens.ts";
import { createUpstream, type Upstream } from "../../src/gateway/upstream.ts";
import { parseKeyFile } from "../../src/key-file.ts";
import { createPki, type CertificateRequest } from "../../src/local/cluster/pki.ts";
import { createLogger, type Logger } from "../../src/log.ts";
import { startTemporal, type TemporalServer } from "./temporal.ts";

/** A real Temporal server, our gateway before it, and certificates for its callers. */
export interface GatewayLab {
  /** Temporal itself, past the gateway. */
  readonly temporal: TemporalServer;
  /** The gateway's address, for the holder of a new certificate, which is signed by the authority of this name. */
  as(
    subject: Partial<CertificateRequest> & { readonly commonName: string },
    authority?: string,
  ): Promise<TemporalAddress>;
  asGarden(): Promise<TemporalAddress>;
  asSeed(seed: string): Promise<TemporalAddress>;
  /** The SDK's client; `stop` closes it. */
  connect(address: TemporalAddress): Promise<Client>;
  stop(): Promise<void>;
}

/** Starts both. */
export async function startGatewayLab({
  log = createLogger({ name: "test", level: "silent" }),
}: { log?: Logger } = {}): Promise<GatewayLab> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-gateway-"));
  const pki = createPki(folder);
  const [temporal, authority] = await Promise.all([startTemporal(), pki.authority("gateway")]);
  const server = await pki.issue(authority, { name: "server", commonName: "perennial:gateway", hosts: ["127.0.0.1"] });
  const key = { id: "test", secret: randomBytes(32).toString("base64") };
  const gateway = createGateway({
    upstream: createUpstream({ address: temporal.address, ...channelCredentials({}) }),
    namespace: "default",
    credentials: await serverCredentials({
      ...server,
      certFile: server.certificateFile,
      clientCaFile: authority.certificateFile,
    }),
    tokens: createTaskTokens(parseKeyFile(JSON.stringify({ keys: [key] }), "test")),
    log,
  });
  const port = await gateway.start({ host: "127.0.0.1", port: 0 });
  const clients: Client[] = [];

  let count = 0;
  const as: GatewayLab["as"] = async (subject, by = "gateway") => {
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
    temporal,
    as,
    asGarden: () => as({ organization: gardenGroup, commonName: "perennial:test" }),
    asSeed: (seed) => as({ organization: seedsGroup, commonName: seedUser(seed) }),
    async connect(address) {
      const client = await connectTemporal(address);
      clients.push(client);
      return client;
    },
    async stop() {
      await Promise.all(clients.map(({ connection }) => connection.close()));
      await gateway.stop();
      await temporal.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Temporal's frontend as a caller of the gateway sees it, in bytes and without retries. */
export function rawCaller({ address, namespace: _, ...files }: TemporalAddress): Upstream {
  return createUpstream({ address, ...channelCredentials(files) });
}
