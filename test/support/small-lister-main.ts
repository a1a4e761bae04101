import { ConfigMap, createKubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";

/** A process of little memory that lists the ConfigMaps of a cluster and keeps their metadata. */
const { KUBECONFIG = "" } = process.env;
const client = createKubeClient({ file: KUBECONFIG }, { log: createLogger({ name: "small-lister", level: "silent" }) });
const found = await client.list(ConfigMap, {
  keep: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata }),
});
console.log(`read ${found.length}`);
await client.close();
