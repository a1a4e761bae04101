import type { CloudProfile, Seed, Shoot } from "../../api/index.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import type { KubeClient } from "../../kube/index.ts";
import { configurationProblem } from "../failure.ts";
import { shootType } from "../shoot/view.ts";

/** The garden's objects that an operation works from, read afresh. */
export interface GardenObjects {
  readonly shoot: Shoot;
  readonly cloudProfile: CloudProfile;
  readonly seed: Seed;
}

/** Reads them; throws a configuration problem that names what is missing. */
export async function readGardenObjects(gardenClient: KubeClient, run: ShootRun): Promise<GardenObjects> {
  const shoot = await gardenClient.read<Shoot>({ ...shootType, namespace: run.namespace, name: run.name });
  if (shoot === undefined || shoot.metadata.uid !== run.uid) {
    throw configurationProblem(`Shoot ${run.namespace}/${run.name} is gone`);
  }
  const name = profileName(shoot);
  const [cloudProfile, seed] = await Promise.all([
    gardenClient.read<CloudProfile>({ ...core, kind: "CloudProfile", name }),
    gardenClient.read<Seed>({ ...core, kind: "Seed", name: run.seedName }),
  ]);
  if (cloudProfile === undefined)
    throw configurationProblem(`CloudProfile ${name} does not exist: spec.cloudProfile has to name one that does`);
  if (seed === undefined) throw configurationProblem(`Seed ${run.seedName} does not exist`);
  return { shoot, cloudProfile, seed };
}

/** Writes what extensions know of the Shoot into the seed: the three objects as they are in the garden. */
export async function syncCluster(seedClient: KubeClient, run: ShootRun, objects: GardenObjects): Promise<void> {
  const { cloudProfile, shoot } = objects;
  await seedClient.apply({
    ...clusterType,
    metadata: { name: run.technicalID },
    spec: { cloudProfile: stripped(cloudProfile), seed: stripped(objects.seed), shoot: stripped(shoot) },
  });
}

/** The Shoot's `Cluster` in the seed. */
export const clusterRef = (run: ShootRun) => ({ ...clusterType, name: run.technicalID });

const clusterType = { apiVersion: "extensions.gardener.cloud/v1alpha1", kind: "Cluster" } as const;

const core = { apiVersion: "core.gardener.cloud/v1beta1" } as const;

/** The older field is still in use upstream. */
function profileName({ spec }: Shoot): string {
  const name = spec.cloudProfile?.name ?? spec.cloudProfileName;
  if (name === undefined) throw configurationProblem("spec.cloudProfile is missing: it has to name a CloudProfile");
  return name;
}

function stripped<T extends { metadata: object }>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata as Record<string, unknown>;
  return { ...object, metadata };
}
