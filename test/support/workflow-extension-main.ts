import { Client, Connection } from "@temporalio/client";
import type { Infrastructure } from "../../src/api/index.ts";
import { createExtensionController, createKubeClient, createLogger } from "../../src/extension/index.ts";
import { createWorkflowActuator } from "../../src/extension/workflow/index.ts";

/** A controller of Infrastructures of type `workflow`, whose work is a workflow on queue `networks`. */
const { KUBECONFIG = "", TEMPORAL_ADDRESS: address = "" } = process.env;
const log = createLogger({ name: "extension-workflow", level: "info" });
const seed = createKubeClient({ file: KUBECONFIG });
const connection = await Connection.connect({ address });
const client = new Client({ connection });

const actuator = createWorkflowActuator<Infrastructure>({ client, taskQueue: "networks", workflow: "makeNetwork" });
const controller = createExtensionController({ client: seed, kind: "Infrastructure", type: "workflow", actuator, log });
controller.start();

process.once("SIGTERM", () => {
  void controller.stop().then(() => Promise.all([seed.close(), connection.close()]));
});
