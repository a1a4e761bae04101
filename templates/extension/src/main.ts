import {
  createElection,
  createExtensionController,
  createHeartbeat,
  createKubeClient,
  createLogger,
} from "perennial/extension";
import { actuator } from "./actuator.ts";

const { KUBECONFIG, NAMESPACE = "extension-__NAME__" } = process.env;
const log = createLogger({ name: "extension-__NAME__", level: "info" });
const client = createKubeClient(KUBECONFIG ? { file: KUBECONFIG } : { inCluster: true });

const election = createElection({
  ...{ client, namespace: NAMESPACE, name: "extension-__NAME__", log },
  parts: (guard) => [
    createExtensionController({ client, kind: "Extension", type: "__NAME__", actuator, guard, log }),
    createHeartbeat({ client, namespace: NAMESPACE, name: "extension-__NAME__", log }),
  ],
});
election.start();

process.once("SIGTERM", () => {
  void election.stop().then(() => client.close());
});
