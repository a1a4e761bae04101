/**
 * The agent of a machine, a program of its own beside gardenadm's command line, whose code it does not load: unit
 * gardener-node-agent.service runs it. It reads config.yaml and pool.yaml in /var/lib/gardener-node-agent, which `gardenadm init` and
 * `gardenadm join` write, watches the Secret of its pool, and changes files and units of this machine when that changes. It ends
 * when it has changed itself, and is to be started anew.
 */
import { ADMIN_KUBECONFIG, NODE_AGENT_UNIT } from "../../api/names.ts";
import { flushCompileCache } from "node:module";
import { hostname } from "node:os";
import { join } from "node:path";
import { createLogger } from "../../log.ts";
import { createCtr, createSystemctl } from "../../node-agent/commands.ts";
import { runAgent } from "./agent.ts";
import { readAgentConfiguration } from "../machine/agent-configuration.ts";
import { keepControlPlane } from "./control-plane-keeper.ts";
import { agentPlacesIn } from "../machine/agent-places.ts";

const root = "/";
const log = createLogger({ name: "gardener-node-agent", level: "info" });
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
process.once("SIGINT", () => stop.abort());
// A process that is killed leaves the next one what it has compiled, too.
setTimeout(flushCompileCache, 60_000).unref();

try {
  await keepMachine();
} catch (error) {
  log.fatal({ err: error }, "the agent ends");
  process.exitCode = 1;
}

async function keepMachine(): Promise<void> {
  const places = agentPlacesIn(root);
  const configuration = await readAgentConfiguration(places);
  const machine = {
    ...{ root, ownUnit: NODE_AGENT_UNIT },
    systemctl: createSystemctl(),
    ctr: createCtr({ namespace: "k8s.io" }),
  };
  const identity = { root, places, node: hostname(), configuration, adminKubeconfig: join(root, ADMIN_KUBECONFIG) };
  const now = () => Date.now();
  const keeper = keepControlPlane({ identity, machine, log, now });
  try {
    await runAgent({ identity, machine, log, now }, stop.signal);
  } finally {
    await keeper.stop();
  }
}
