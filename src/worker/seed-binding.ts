import { Seed } from "../api/index.ts";
import { BoundElsewhere } from "../binding/bound-elsewhere.ts";
import { createMemory, GARDEN_ROLE, readMemories } from "../binding/memory.ts";
import { createSeedRegister } from "../binding/seed-register.ts";
import { createCopyCheck } from "../binding/copy-check.ts";
import { formatRevision } from "../binding/revision.ts";
import { createBinding, type Mismatch } from "../binding/binding.ts";
import { isConflict, readClusterIdentity, refTo, unlessForbidden, type KubeClient } from "../kube/index.ts";
import { announceIdentity } from "./seed-identity.ts";

/** Both clusters, each under the seed's own rights. */
export interface SeedBindingDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly seedName: string;
  /** From one revision to the next, in ms; five minutes by default. */
  readonly period?: number;
}

/** The binding of a Seed to its cluster. */
export interface SeedBinding {
  /**
   * Confirms that the Seed is the cluster that this worker acts on, and binds a Seed that is bound to none; false while there is
   * no Seed. Throws `BoundElsewhere` where it is another cluster, or another copy of this one, and an error where the garden
   * itself is a copy that may not be acted on.
   */
  bind(): Promise<boolean>;
}

/**
 * Binds a Seed to a cluster by upstream's `status.clusterIdentity`, which cannot be changed, and to one copy of that cluster by
 * the revision that cluster and garden share.
 */
export function createSeedBinding({ gardenClient, seedClient, seedName, period }: SeedBindingDeps): SeedBinding {
  const ref = refTo(Seed, { name: seedName });
  const memory = createMemory(seedClient, `seed.${seedName}`);
  // As a garden only: where it is a Seed, too, it has that register in itself, and a copy of it confirms the one by the other.
  const garden = createCopyCheck({ read: () => readMemories(gardenClient, GARDEN_ROLE) });
  let revisions: { readonly uid: string; readonly confirm: () => Promise<void> } | undefined;

  const confirmRevision = async (uid: string): Promise<void> => {
    if (revisions?.uid !== uid) {
      const register = createSeedRegister(gardenClient, { name: seedName, uid });
      const explain = (mismatch: Mismatch) => explainMismatch(seedName, mismatch);
      revisions = { uid, ...createBinding({ memory, register, explain, ...(period !== undefined && { period }) }) };
    }
    await revisions.confirm();
  };

  /** A garden that is a copy, too, may have been restored together with this cluster: both are at the same revision. */
  const requireGarden = async (): Promise<void> => {
    const refusal = await garden.refusal();
    if (refusal === undefined) return;
    const message = `cannot act as Seed ${seedName} of garden ${gardenClient.server}: ${refusal.reason}`;
    throw refusal.is === "refused" ? new BoundElsewhere(message) : new Error(message);
  };

  return {
    async bind() {
      await requireGarden();
      const own = await readClusterIdentity(seedClient);
      for (;;) {
        const seed = await gardenClient.read(ref).catch(unlessForbidden);
        if (seed === undefined) return false;
        const bound = seed.status?.clusterIdentity;
        if (bound === own) {
          await confirmRevision(seed.metadata.uid ?? "");
          await announceIdentity(seedClient, own);
          return true;
        }
        if (bound) throw new BoundElsewhere(explain(seedName, bound, own));
        const { resourceVersion } = seed.metadata;
        const claim = { metadata: { resourceVersion }, status: { clusterIdentity: own } };
        await gardenClient.patch(ref, claim, { subresource: "status" }).catch(ifTaken);
      }
    },
  };
}

const explain = (seedName: string, bound: string, own: string): string =>
  `Seed ${seedName} is the cluster ${bound}, and this worker acts on the cluster ${own}: two clusters under one name ` +
  `would both run its control planes. Give this cluster a Seed of its own, or, when the other cluster is gone for good, ` +
  `move its Shoots away, delete Seed ${seedName} and create it again`;

function explainMismatch(seedName: string, { own, named, behind }: Mismatch): string {
  const revisions = `the garden names revision ${formatRevision(named)} of Seed ${seedName}, and this cluster is at revision ${formatRevision(own)}`;
  const rebind = `perennial seed rebind ${seedName} --to ${formatRevision(own)}`;
  return behind === "register"
    ? `${revisions}, which is later: the garden was restored from a backup. If this cluster is the Seed and no copy of it runs, run: ${rebind}`
    : `${revisions}: it is a copy, or was restored from a backup, and another cluster may be acting as this Seed. ` +
        `If this cluster is to be the Seed, switch off the other one and run: ${rebind}`;
}

/** Another worker of the seed was first, or the Seed has changed: it is read again. */
function ifTaken(error: unknown): void {
  if (!isConflict(error)) throw error;
}
