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
} from "perennial/extension";
import { actuator } from "./actuator.ts";

const { KUBECONFIG, NAMESPACE = "extension-__NAME__", HEALTH_PORT = "0" } = process.env;
const log = createLogger({ name: "extension-__NAME__", level: "info" });
const client = createKubeClient(KUBECONFIG ? { file: KUBECONFIG } : { inCluster: true });
const metrics = createMetrics();
const events = createEventRecorder({ client, controller: "extension-__NAME__", instance: hostname(), log });
const observers = { metrics, events };
const health = await serveHealth({ port: Number(HEALTH_PORT), ready: () => true, metrics: metrics.text });

const election = createElection({
  ...{ client, namespace: NAMESPACE, name: "extension-__NAME__", log },
  parts: (guard) => [
    createExtensionController({ ...observers, client, kind: "Extension", type: "__NAME__", actuator, guard, log }),
    createHeartbeat({ client, namespace: NAMESPACE, name: "extension-__NAME__", log }),
  ],
});
election.start();

process.once("SIGTERM", () => {
  void election
    .stop()
    .then(() => events.settled())
    .then(() => Promise.all([health.stop(), client.close()]));
});
