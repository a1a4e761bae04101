import { createWorld } from "../../src/cluster-api/shoot/world.ts";
import { createEventRecorder, createKubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";

/** What process `cluster-api` knows of Secrets, in little memory. Of the other kinds, the cluster serves none. */
const { KUBECONFIG = "" } = process.env;
const log = createLogger({ name: "small-management", level: "silent" });
const client = createKubeClient({ file: KUBECONFIG }, { log });
const events = createEventRecorder({ client, controller: "test", instance: "test", log });
const world = createWorld({ management: client, garden: client, events, log }, () => {});
world.start();
await Promise.all([world.credentials, world.secrets, world.kubeconfigs].map((one) => one.synced()));
console.log("synced");
setInterval(() => {}, 60_000);
