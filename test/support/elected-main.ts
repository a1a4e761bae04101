import {
  createElection,
  createExtensionController,
  createKubeClient,
  createLogger,
} from "../../src/extension/index.ts";

/** A replica of an extension whose operations never end: each writes ConfigMaps, `<replica>-<number>`, and looks at nothing. */
const { KUBECONFIG = "", NAMESPACE = "", REPLICA = "", TYPE = "" } = process.env;
const log = createLogger({ name: REPLICA, level: "info" });
const client = createKubeClient({ file: KUBECONFIG });
let written = 0;

const election = createElection({
  ...{ client, namespace: NAMESPACE, name: "elected", log },
  timing: { expireAfter: 4_000, renewWithin: 2_500, retryEvery: 300 },
  parts: (guard) => [
    createExtensionController({
      ...{ client, kind: "Infrastructure", type: TYPE, guard, log },
      actuator: {
        async reconcile(_object, _cluster, context) {
          for (;;) {
            const metadata = { namespace: NAMESPACE, name: `${REPLICA}-${(written += 1)}` };
            await context.client.create({ apiVersion: "v1", kind: "ConfigMap", metadata });
          }
        },
        delete: async () => undefined,
        migrate: async () => undefined,
        restore: async () => undefined,
      },
    }),
  ],
});
election.start();
process.once("SIGTERM", () => void election.stop().then(() => client.close()));
