import type { ShootRun } from "../api/shoot/run.ts";
import type { KubeClient } from "../kube/index.ts";
import { createBackup } from "./backup/backup.ts";
import { createComponents } from "./control-plane/components.ts";
import { createExtensionMoves } from "./extensions/moves.ts";
import { createExtensions } from "./extensions/extensions.ts";
import { fenced } from "./leadership/fenced-client.ts";
import { createLeftovers } from "./teardown/leftovers.ts";
import { createProvisioning } from "./secrets/provisioning.ts";
import { createPublishing } from "./control-plane/publishing.ts";
import type { ShootClients } from "./shoot/clients.ts";
import { protectSnapshots } from "./backup/protection.ts";
import type { StateKey } from "./state/keys.ts";
import { createStateActivities } from "./state/activities.ts";
import type { Waits } from "./waits/waits.ts";

/** What acting in a seed needs. */
export interface SeedHandsDeps {
  readonly garden: KubeClient;
  readonly seed: KubeClient;
  readonly shootClients: ShootClients;
  readonly waits: Waits;
  /** What seals the Shoots' states: the first key seals, all open. */
  readonly keys: readonly StateKey[];
}

/** Everything that can be done in a seed for one run. */
export type SeedHands = ReturnType<ReturnType<typeof createSeedHands>>;

/** Hands for a run: all of them write through one client, which puts the run's epoch on whatever goes into the Shoot's namespace. */
export function createSeedHands(deps: SeedHandsDeps) {
  const { garden, shootClients, waits, keys } = deps;
  return (run: ShootRun) => {
    const seed: KubeClient = fenced(deps.seed, run);
    const extensions = createExtensions({ garden, seed, waits });
    const state = createStateActivities({ garden, seed, keys });
    const records = { record: state.recordSnapshot, latest: state.latestSnapshot };
    return {
      seed,
      components: createComponents({ garden, seed, shootClients, waits }),
      extensions,
      moves: createExtensionMoves({
        seed,
        waits,
        wanted: extensions.wanted,
        kept: state.readExtensionState,
        protect: (one) => protectSnapshots({ seed, records }, one),
      }),
      state,
      backup: createBackup({ garden, seed, records, waits }),
      leftovers: createLeftovers({ seed: deps.seed, waits }),
      provisioning: createProvisioning({ garden, seed, shootClients, keptSecrets: state.keptSecrets }),
      publishing: createPublishing({ garden, seed }),
    };
  };
}
