import { GENERIC_KUBECONFIG_ANNOTATION } from "../../api/annotations.ts";
import { profileReference, readEffectiveProfile } from "../../api/core/effective-profile.ts";
import { Cluster, Seed, Shoot, type CloudProfile } from "../../api/index.ts";
import { GENERIC_KUBECONFIG } from "../../api/names.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { clusterObject } from "../../components/index.ts";
import { refTo, Secret, type KubeClient } from "../../kube/index.ts";
import { configurationProblem } from "../step-error.ts";

/** The garden's objects that an operation works from, read afresh. */
export interface GardenObjects {
  readonly shoot: Shoot;
  readonly cloudProfile: CloudProfile;
  readonly seed: Seed;
}

/** Reads them; throws a configuration problem that names what is missing. */
export async function readGardenObjects(gardenClient: KubeClient, run: ShootRun): Promise<GardenObjects> {
  const shoot = await gardenClient.read(Shoot, { namespace: run.namespace, name: run.name });
  if (shoot === undefined || shoot.metadata.uid !== run.uid) {
    throw configurationProblem(`Shoot ${run.namespace}/${run.name} is gone`);
  }
  const { kind, name } = profileOf(shoot);
  const [cloudProfile, seed] = await Promise.all([
    readEffectiveProfile(gardenClient, shoot),
    gardenClient.read(Seed, { name: run.seedName }),
  ]);
  if (cloudProfile === undefined)
    throw configurationProblem(`${kind} ${name} does not exist: spec.cloudProfile has to name one that does`);
  if (seed === undefined) throw configurationProblem(`Seed ${run.seedName} does not exist`);
  return { shoot, cloudProfile, seed };
}

/** Writes what extensions know of the Shoot into the seed. */
export async function syncCluster(seedClient: KubeClient, run: ShootRun, objects: GardenObjects): Promise<void> {
  await seedClient.apply(clusterObject({ ...objects, namespace: run.technicalID }));
  await announceKubeconfig(seedClient, run);
}

/**
 * Tells extensions the name of the generic kubeconfig, as soon as there are both that and a `Cluster`: two steps make them,
 * in any order, and each calls this afterwards. A patch of its own is not taken back by the next sync.
 */
export async function announceKubeconfig(
  seedClient: KubeClient,
  run: Pick<ShootRun, "technicalID" | "managesResources">,
): Promise<void> {
  if (run.managesResources !== true) return;
  const labelSelector = `name=${GENERIC_KUBECONFIG}`;
  const found = await seedClient.list(Secret, { namespace: run.technicalID, labelSelector });
  const newest = found.toSorted((one, other) => createdAt(other) - createdAt(one))[0]?.metadata.name;
  const cluster = await seedClient.read(clusterRef(run));
  if (newest === undefined || cluster === undefined) return;
  if (cluster.metadata.annotations?.[GENERIC_KUBECONFIG_ANNOTATION] === newest) return;
  const annotations = { [GENERIC_KUBECONFIG_ANNOTATION]: newest };
  await seedClient.patch(clusterRef(run), { metadata: { annotations } });
}

const createdAt = ({ metadata }: Secret): number => Date.parse(metadata.creationTimestamp ?? "");

/** The Shoot's `Cluster` in the seed. */
export const clusterRef = (run: Pick<ShootRun, "technicalID">) => refTo(Cluster, { name: run.technicalID });

function profileOf(shoot: Shoot) {
  const reference = profileReference(shoot);
  if (reference === undefined)
    throw configurationProblem("spec.cloudProfile is missing: it has to name a CloudProfile");
  return reference;
}
