import { ShootBootstrapConfig } from "../api/cluster-api/index.ts";
import { createObjectController } from "../kube/index.ts";
import { isPaused, pausedSaid } from "./objects/paused.ts";
import { say } from "./objects/say.ts";
import type { ClusterApiDeps, Part } from "./part.ts";

/** Says of each ShootBootstrapConfig that its data is there: it is empty, since a Shoot starts its machines itself. */
export function createBootstrapController({ management, log }: ClusterApiDeps): Part {
  return createObjectController({
    name: "cluster-api-bootstrap",
    client: management,
    kind: ShootBootstrapConfig,
    log,
    async reconcile(config) {
      if (isPaused(config)) return await say(management, config, [pausedSaid(true)]);
      await say(management, config, [pausedSaid(false)], {
        initialization: { dataSecretCreated: true },
        dataSecretName: "",
      });
    },
  });
}
