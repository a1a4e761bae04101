import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import type { WebhookAddress } from "../admission/index.ts";
import { CLUSTER_API_CONTROLLER } from "../api/index.ts";
import { parseConfig, type Config } from "../config.ts";
import { serveHealth } from "../health.ts";
import { createEventRecorder, createKubeClient } from "../kube/index.ts";
import { createLogger } from "../log.ts";
import { controllers } from "./controllers.ts";
import { electLeader } from "./lead.ts";
import { serveAll, webhooks } from "./webhooks.ts";

/** Makes Shoots clusters of Cluster API: watches the management cluster and the garden, and serves webhooks of the former. */
await main();

async function main(): Promise<void> {
  const config = parseConfig(process.env, "cluster-api");
  const { gardenKubeconfig, managementKubeconfig = gardenKubeconfig, managementNamespace: namespace } = config;
  const log = createLogger({ name: "cluster-api", level: config.logLevel });
  const connect = (file: string) => createKubeClient({ file }, { log, fieldManager: "perennial-cluster-api" });
  const management = connect(managementKubeconfig);
  const garden = managementKubeconfig === gardenKubeconfig ? management : connect(gardenKubeconfig);
  const reporter = { client: management, controller: CLUSTER_API_CONTROLLER, instance: hostname() };
  const events = createEventRecorder({ ...reporter, log });
  const { generatesEndpoints } = config;
  const deps = { management, garden, events, log, generatesEndpoints };

  let ready = false;
  const health = await serveHealth({ port: config.healthPort, ready: () => ready });
  const address = await addressOf(config);
  const serving = address && (await serveAll({ ...deps, ...address, namespace, webhooks }));
  const leader = electLeader({ ...deps, namespace, controllers });
  leader.start();
  ready = true;
  log.info({ management: management.server, garden: garden.server }, "cluster-api started");

  await new Promise<void>((resolve) => {
    process.once("SIGTERM", () => resolve()).once("SIGINT", () => resolve());
  });
  ready = false;
  await leader.stop();
  await events.settled();
  await serving?.stop();
  await health.stop();
  await Promise.all([...new Set([management, garden])].map((client) => client.close()));
  log.info("cluster-api stopped");
}

/** Where webhooks listen, if an address is given for them. */
async function addressOf(config: Config<"cluster-api">): Promise<WebhookAddress | undefined> {
  const { webhookHost: host, webhookPort: port, webhookService: service, webhookClientCaFile: file } = config;
  if (host === undefined) return undefined;
  const clientCa = file === undefined ? {} : { clientCa: await readFile(file, "utf8") };
  return { host, port, ...(service === undefined ? {} : { service }), ...clientCa };
}
