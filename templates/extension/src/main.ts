import { createExtensionController, createHeartbeat, createKubeClient, createLogger } from "perennial/extension";
import { actuator } from "./actuator.ts";

const { KUBECONFIG, NAMESPACE = "extension-__NAME__" } = process.env;
const log = createLogger({ name: "extension-__NAME__", level: "info" });
const client = createKubeClient(KUBECONFIG ? { file: KUBECONFIG } : { inCluster: true });

const controller = createExtensionController({ client, kind: "Extension", type: "__NAME__", actuator, log });
const heartbeat = createHeartbeat({ client, namespace: NAMESPACE, name: "extension-__NAME__", log });
controller.start();
heartbeat.start();

process.once("SIGTERM", () => {
  void Promise.all([controller.stop(), heartbeat.stop()]).then(() => client.close());
});
