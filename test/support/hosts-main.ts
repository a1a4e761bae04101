import {
  createExtensionController,
  createHeartbeat,
  createKubeClient,
  createLogger,
} from "../../src/extension/index.ts";
import { hosts } from "./hosts-extension.ts";

const { KUBECONFIG, NAMESPACE = "extension-hosts" } = process.env;
const log = createLogger({ name: "extension-hosts", level: "info" });
const client = createKubeClient(KUBECONFIG ? { file: KUBECONFIG } : { inCluster: true });

const controller = createExtensionController({ client, kind: "DNSRecord", type: "hosts", actuator: hosts, log });
const heartbeat = createHeartbeat({ client, namespace: NAMESPACE, name: "extension-hosts", log });
controller.start();
heartbeat.start();

process.once("SIGTERM", () => {
  void Promise.all([controller.stop(), heartbeat.stop()]).then(() => client.close());
});
