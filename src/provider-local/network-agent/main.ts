import { readFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { parseConfig } from "../../config.ts";
import { serveHealth } from "../../health.ts";
import { createKubeClient, parseKubeconfig, untrusted } from "../../kube/index.ts";
import { createLogger } from "../../log.ts";
import { createNetworkAgent } from "./agent.ts";
import { agentPlaces, NETWORK_AGENT } from "./places.ts";

const config = parseConfig(process.env, "network agent");
const log = createLogger({ name: NETWORK_AGENT, level: config.logLevel });
const { cni, settings, kubeconfig } = agentPlaces;
// The kubelet's own way to an API server is there before Services are: on nodes of a control plane, the one beside it. What
// is shown there is the account of this pod.
const { server } = parseKubeconfig(readFileSync(kubeconfig.pod, "utf8"), "/", "the kubelet's kubeconfig");
const client = createKubeClient({ inCluster: true, server }, { log, fieldManager: NETWORK_AGENT, bounds: untrusted });
const agent = createNetworkAgent({
  ...{ client, log, node: config.nodeName, clusterPodCIDR: config.podNetwork },
  run: async ([program = "", ...args], input) =>
    (await execa(program, args, input === undefined ? {} : { input })).stdout,
  cniDir: cni.pod,
  forwardingFile: join(settings.pod, "ip_forward"),
});
const health = await serveHealth({ port: config.healthPort, ready: agent.ready });
process.once("SIGTERM", () => void stop());
process.once("SIGINT", () => void stop());
agent.start();
log.info({ node: config.nodeName, server }, "network agent started");

/** A second signal ends the process at once, because the handlers are gone by then. */
async function stop(): Promise<void> {
  await Promise.all([agent.stop(), health.stop()]);
  await client.close();
}
