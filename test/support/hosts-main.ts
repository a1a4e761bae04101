import {
  createElection,
  createExtensionController,
  createHeartbeat,
  createKubeClient,
  createLogger,
} from "../../src/extension/index.ts";
import { hosts } from "./hosts-extension.ts";

const { KUBECONFIG, NAMESPACE = "extension-hosts" } = process.env;
const log = createLogger({ name: "extension-hosts", level: "info" });
const client = createKubeClient(KUBECONFIG ? { file: KUBECONFIG } : { inCluster: true });

const election = createElection({
  ...{ client, namespace: NAMESPACE, name: "extension-hosts", log },
  parts: (guard) => [
    createExtensionController({ client, kind: "DNSRecord", type: "hosts", actuator: hosts, guard, log }),
    createHeartbeat({ client, namespace: NAMESPACE, name: "extension-hosts", log }),
  ],
});
election.start();

process.once("SIGTERM", () => {
  void election.stop().then(() => client.close());
});
