import { createNodeApprover } from "../../src/gardenadm/node-access/approver.ts";
import { watchConditions } from "../../src/gardenadm/node-agent/condition-watch.ts";
import { createKubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";

/** What the agent of a control-plane node does for its cluster, in a process that has as little memory as that one. */
const { KUBECONFIG = "", NODE = "" } = process.env;
const log = createLogger({ name: "node-keeper", level: "warn" });
const client = createKubeClient({ file: KUBECONFIG }, { log });
createNodeApprover(client, log).start();
await watchConditions({ client, hostName: NODE, log, every: 2_000 }, new AbortController().signal);
