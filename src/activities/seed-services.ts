import type { ShootRun } from "../api/shoot/run.ts";
import type { KubeClient } from "../kube/index.ts";
import { createBackup } from "./backup/backup.ts";
import { createComponents } from "./control-plane/components.ts";
import type { ExposureHandlers } from "./control-plane/exposure.ts";
import { createEncryptionAtRest } from "./control-plane/encryption.ts";
import { createEtcdRepair } from "./etcd/repair.ts";
import { tellReplaced } from "./etcd/tell-replaced.ts";
import { createExtensionMoves } from "./extensions/moves.ts";
import { createExtensions } from "./extensions/extensions.ts";
import { createReferences } from "./extensions/references.ts";
import type { TriggerRule } from "./extensions/trigger.ts";
import { carryingLeadership } from "./leadership/carried-leadership.ts";
import { fenced } from "./leadership/fenced-client.ts";
import { createDecommissioning } from "./teardown/decommissioning.ts";
import { createMachineHandover } from "./machines/handover.ts";
import { createManagedResources } from "./managed-resources/managed-resources.ts";
import { createNamespaceFence } from "./leadership/namespace-fence.ts";
import { createProvisioning } from "./secrets/provisioning.ts";
import { createPublishing } from "./control-plane/publishing.ts";
import type { ShootClients } from "./shoot/clients.ts";
import { protectSnapshots } from "./backup/protection.ts";
import { createResourceManagerRemoval } from "./managed-resources/unused-resource-manager.ts";
import type { StateKeyring } from "./state/keyring.ts";
import { createStateActivities } from "./state/activities.ts";
import type { Waits } from "./waits/waits.ts";

/** `seedClient` is the worker's own client, not fenced: the services fence it for each run. */
export interface SeedServiceDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly shootClients: ShootClients;
  readonly waits: Waits;
  /** What seals the Shoots' states, and opens them. */
  readonly keys: StateKeyring;
  /** When extensions' controllers are asked to act, by their kinds' rule unless told otherwise. */
  readonly triggers?: TriggerRule | undefined;
  /** What handlers of ExposureClasses mean in the seed; only its worker knows. */
  readonly exposureHandlers?: ExposureHandlers | undefined;
}

/** Everything that can be done in a seed for one run. */
export type SeedServices = ReturnType<ReturnType<typeof createSeedServices>>;

/** Services for a run. Every write into the Shoot's namespace carries the run's epoch. */
export function createSeedServices(deps: SeedServiceDeps) {
  const { gardenClient, shootClients, waits, keys, triggers, exposureHandlers } = deps;
  return (run: ShootRun) => {
    const seedClient: KubeClient = carryingLeadership(fenced(deps.seedClient, run));
    const extensions = createExtensions({ gardenClient, seedClient, waits, triggers });
    const state = createStateActivities({ gardenClient, seedClient, keys });
    const records = { record: state.recordSnapshot, latest: state.latestSnapshot };
    const decommissioning = createDecommissioning({ seedClient: deps.seedClient, waits });
    const components = createComponents({ gardenClient, seedClient, shootClients, waits, exposureHandlers });
    return {
      seedClient,
      components,
      removeUnusedResourceManager: createResourceManagerRemoval({ gardenClient, seedClient, components }),
      extensions,
      references: createReferences({ gardenClient, seedClient }),
      managedResources: createManagedResources({ seedClient, waits }),
      moves: createExtensionMoves({
        seedClient,
        waits,
        wanted: extensions.wanted,
        kept: state.restoreExtensionState,
        machines: createMachineHandover({ seedClient, kept: state.readMachineState }),
        protect: (one) => protectSnapshots({ seedClient, records }, one),
      }),
      state,
      backup: createBackup({ gardenClient, seedClient, records, waits }),
      fence: createNamespaceFence({ seedClient: deps.seedClient }),
      decommissioning,
      etcdRepair: createEtcdRepair({
        ...{ gardenClient, seedClient, records, waits },
        stop: decommissioning.stopWorkload,
        tell: tellReplaced(gardenClient),
      }),
      provisioning: createProvisioning({ gardenClient, seedClient, shootClients, keptSecrets: state.keptSecrets }),
      encryption: createEncryptionAtRest({ gardenClient, seedClient, shootClients }),
      publishing: createPublishing({ gardenClient, seedClient, shootClients }),
    };
  };
}
