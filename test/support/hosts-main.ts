import { hostname } from "node:os";
import {
  createElection,
  createEventRecorder,
  createExtensionController,
  createHeartbeat,
  createKubeClient,
  createLogger,
  createMetrics,
  serveHealth,
} from "../../src/extension/index.ts";
import { hosts } from "./hosts-extension.ts";

const { KUBECONFIG, NAMESPACE = "extension-hosts", HEALTH_PORT = "0" } = process.env;
const log = createLogger({ name: "extension-hosts", level: "info" });
const client = createKubeClient(KUBECONFIG ? { file: KUBECONFIG } : { inCluster: true });
const metrics = createMetrics();
const events = createEventRecorder({ client, controller: "extension-hosts", instance: hostname(), log });
const observers = { metrics, events };
const health = await serveHealth({ port: Number(HEALTH_PORT), ready: () => true, metrics: metrics.text });

const election = createElection({
  ...{ client, namespace: NAMESPACE, name: "extension-hosts", log },
  parts: (guard) => [
    createExtensionController({ ...observers, client, kind: "DNSRecord", type: "hosts", actuator: hosts, guard, log }),
    createHeartbeat({ client, namespace: NAMESPACE, name: "extension-hosts", log }),
  ],
});
election.start();

process.once("SIGTERM", () => {
  void election
    .stop()
    .then(() => events.settled())
    .then(() => Promise.all([health.stop(), client.close()]));
});
