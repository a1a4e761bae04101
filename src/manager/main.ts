import { connectTemporal } from "../client/connect.ts";
import { createShootClient } from "../client/shoots.ts";
import { parseConfig } from "../config.ts";
import { createShootController } from "../controllers/shoot.ts";
import { serveHealth } from "../health.ts";
import { createKubeClient } from "../kube/index.ts";
import { createLogger } from "../log.ts";
import { serveWebhooks } from "./webhooks.ts";

/** Watches the garden, tells the Shoots' workflows what changed, and serves the garden's admission webhooks. */
await main();

async function main(): Promise<void> {
  const config = parseConfig(process.env, "manager");
  const log = createLogger({ name: "manager", level: config.logLevel });
  const gardenClient = createKubeClient({ file: config.gardenKubeconfig }, { log });
  const temporal = await connectTemporal({ address: config.temporalAddress, namespace: config.temporalNamespace });
  const shoots = createShootController({ gardenClient, shoots: createShootClient(temporal), log });

  let ready = false;
  const health = await serveHealth({ port: config.healthPort, ready: () => ready });
  const { webhookHost: host, webhookPort: port, webhookService: service } = config;
  const webhooks = host && (await serveWebhooks({ gardenClient, log, host, port, ...(service ? { service } : {}) }));
  shoots.start();
  void shoots.synced().then(() => (ready = true));
  log.info({ garden: gardenClient.server, temporal: config.temporalAddress }, "manager started");

  await new Promise<void>((resolve) => {
    process.once("SIGTERM", () => resolve()).once("SIGINT", () => resolve());
  });
  ready = false;
  await shoots.stop();
  if (webhooks) await webhooks.stop();
  await health.stop();
  await Promise.all([gardenClient.close(), temporal.connection.close()]);
  log.info("manager stopped");
}
