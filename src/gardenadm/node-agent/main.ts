import { join } from "node:path";
import { flushCompileCache } from "node:module";
import { hostname } from "node:os";
import { createLogger } from "../../log.ts";
import { createCtr, createSystemctl } from "../../node-agent/commands.ts";
import { ADMIN_KUBECONFIG } from "../connection.ts";
import { defineCommand } from "../context.ts";
import { runAgent } from "./agent.ts";
import { readAgentConfiguration } from "./configuration.ts";
import { keepControlPlane } from "./control-plane-keeper.ts";
import { agentPlacesIn } from "./places.ts";

/** The unit that the agent runs in. */
const OWN_UNIT = "gardener-node-agent.service";

/** `gardenadm node-agent` */
export const nodeAgent = defineCommand({
  name: "node-agent",
  summary: "Keep this machine as its pool's configuration says; unit gardener-node-agent.service runs it",
  description:
    "It reads config.yaml and pool.yaml in /var/lib/gardener-node-agent, which `gardenadm init` and `gardenadm join` write, watches the Secret of its pool, " +
    "and changes files and units of this machine when that changes. It ends when it has changed itself, and is to be started anew.",
  args: {},
  options: {},
  async run({ context: { signal, now } }) {
    const root = "/";
    const log = createLogger({ name: "gardener-node-agent", level: "info" });
    const places = agentPlacesIn(root);
    const configuration = await readAgentConfiguration(places);
    const adminKubeconfig = join(root, ADMIN_KUBECONFIG);
    const machine = {
      ...{ root, ownUnit: OWN_UNIT },
      systemctl: createSystemctl(),
      ctr: createCtr({ namespace: "k8s.io" }),
    };
    const identity = { root, places, node: hostname(), configuration, adminKubeconfig };
    // A process that is killed leaves the next one what it has compiled, too.
    setTimeout(flushCompileCache, 60_000).unref();
    const keeper = await keepControlPlane({ identity, machine, log, now });
    try {
      await runAgent({ identity, machine, log, now }, signal);
    } finally {
      await keeper.stop();
    }
    return "done";
  },
});
