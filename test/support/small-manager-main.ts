import { createBastionController } from "../../src/controllers/bastion.ts";
import { createNamespacedCloudProfileController } from "../../src/controllers/namespaced-cloud-profile.ts";
import { createProtections } from "../../src/controllers/protections.ts";
import { createWorld } from "../../src/controllers/seed-access/world.ts";
import { createWatchedGarden } from "../../src/admission/watched/garden.ts";
import { createEventRecorder, createKubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";

/** What the manager knows of what a project makes, in little memory. */
const { KUBECONFIG = "" } = process.env;
const log = createLogger({ name: "small-manager", level: "silent" });
const gardenClient = createKubeClient({ file: KUBECONFIG }, { log });
const events = createEventRecorder({ client: gardenClient, controller: "test", instance: "test", log });
const deps = { gardenClient, log, events };
const known = createWorld({ gardenClient, log, onChange: () => {} });
const garden = createWatchedGarden(gardenClient, log);
for (const part of [
  createProtections(deps),
  createBastionController(deps),
  createNamespacedCloudProfileController(deps),
  known,
])
  part.start();
await Promise.all([known.synced(), garden.start()]);
console.log("synced");
setInterval(() => {}, 60_000);
