import type { Client } from "@temporalio/client";
import { channelCredentials } from "../../src/client/credentials.ts";
import { connectTemporal, type TemporalAddress } from "../../src/client/connect.ts";
import { createUpstream } from "../../src/gateway/upstream.ts";
import { createLogger, type Logger } from "../../src/log.ts";
import { startLoneGateway, type LoneGateway } from "./lone-gateway.ts";
import { startTemporal, type TemporalServer } from "./temporal.ts";

export { rawCaller } from "./lone-gateway.ts";

/** A real Temporal server, our gateway before it, and certificates for its callers. */
export interface GatewayLab extends LoneGateway {
  /** Temporal itself, past the gateway. */
  readonly temporal: TemporalServer;
  /** The SDK's client; `stop` closes it. */
  connect(address: TemporalAddress): Promise<Client>;
}

/** Starts both. */
export async function startGatewayLab({
  log = createLogger({ name: "test", level: "silent" }),
}: { log?: Logger } = {}): Promise<GatewayLab> {
  const temporal = await startTemporal();
  const upstream = createUpstream({ address: temporal.address, ...channelCredentials({}) });
  const gateway = await startLoneGateway({ upstream, log, pause: 300 });
  const clients: Client[] = [];
  return {
    ...gateway,
    temporal,
    async connect(address) {
      const client = await connectTemporal(address);
      clients.push(client);
      return client;
    },
    async stop() {
      await Promise.all(clients.map(({ connection }) => connection.close()));
      await gateway.stop();
      await temporal.stop();
    },
  };
}
