import { createBackupEntryController } from "../../src/controllers/backup-entry.ts";
import { createScheduler } from "../../src/controllers/scheduler/scheduler.ts";
import { createSeedAccessController } from "../../src/controllers/seed-access/seed-access.ts";
import { createSeedSilenceController } from "../../src/controllers/seed-silence.ts";
import { createShootStatusLabelController } from "../../src/controllers/shoot-status-label.ts";
import { createWatchedGarden } from "../../src/admission/watched/garden.ts";
import { createEventRecorder, createKubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";

/** What the manager knows of what seeds write, in little memory. */
const { KUBECONFIG = "" } = process.env;
const log = createLogger({ name: "filled-garden", level: "silent" });
const gardenClient = createKubeClient({ file: KUBECONFIG }, { log });
const events = createEventRecorder({ client: gardenClient, controller: "test", instance: "test", log });
const deps = { gardenClient, log, events };
const garden = createWatchedGarden(gardenClient, log);
for (const part of [
  createSeedAccessController(deps),
  createBackupEntryController(deps),
  createSeedSilenceController(deps),
  createShootStatusLabelController(deps),
  createScheduler({ ...deps, strategy: "SameRegion" }),
])
  part.start();
await garden.start();
console.log("synced");
setInterval(() => {}, 60_000);
