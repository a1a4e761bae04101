import { Seed } from "../api/index.ts";
import { BoundElsewhere } from "../client/garden-binding.ts";
import { isConflict, readClusterIdentity, refTo, unlessForbidden, type KubeClient } from "../kube/index.ts";
import { announceIdentity } from "./seed-identity.ts";

/** Both clusters, each under the seed's own rights. */
export interface SeedBindingDeps {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  readonly seedName: string;
}

/** Which cluster a Seed is. */
export interface SeedBinding {
  /** Binds a Seed that is bound to none; false while there is none. Throws `BoundElsewhere` where it is another cluster's. */
  bind(): Promise<boolean>;
}

/** Binds a Seed to the cluster that this worker acts on, in upstream's `status.clusterIdentity`, which cannot be changed. */
export function createSeedBinding({ gardenClient, seedClient, seedName }: SeedBindingDeps): SeedBinding {
  const ref = refTo(Seed, { name: seedName });
  return {
    async bind() {
      const own = await readClusterIdentity(seedClient);
      for (;;) {
        const seed = await gardenClient.read(ref).catch(unlessForbidden);
        if (seed === undefined) return false;
        const bound = seed.status?.clusterIdentity;
        if (bound === own) {
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

/** Another worker of the seed was first, or the Seed has changed: it is read again. */
function ifTaken(error: unknown): void {
  if (!isConflict(error)) throw error;
}
