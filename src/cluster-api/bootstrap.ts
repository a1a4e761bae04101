import { ShootBootstrapConfig } from "../api/cluster-api/index.ts";
import { createController, createReflector, type NamespacedKey } from "../kube/index.ts";
import type { ClusterApiDeps, Part } from "./part.ts";
import { isPaused } from "./endpoint/paused.ts";
import { pausedSaid, say } from "./shoot/say.ts";

/** Says of each ShootBootstrapConfig that its data is there: it is empty, since a Shoot starts its machines itself. */
export function createBootstrapController({ management, log }: ClusterApiDeps): Part {
  const configs = createReflector(management, ShootBootstrapConfig, {
    log,
    onEvent: ({ type, object: { metadata } }) => {
      if (type !== "deleted") controller.enqueue({ namespace: metadata.namespace, name: metadata.name });
    },
  });
  const controller = createController<NamespacedKey>({
    name: "cluster-api-bootstrap",
    log,
    async reconcile({ namespace, name }) {
      const config = configs.get(name, namespace);
      if (config === undefined) return;
      if (isPaused(config)) return await say(management, config, [pausedSaid(true)]);
      await say(management, config, [pausedSaid(false)], {
        initialization: { dataSecretCreated: true },
        dataSecretName: "",
      });
    },
  });
  return {
    start() {
      configs.start();
      controller.start();
    },
    async stop() {
      await configs.stop();
      await controller.stop();
    },
  };
}
