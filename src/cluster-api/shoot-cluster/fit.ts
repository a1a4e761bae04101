import type { ShootCluster, ShootControlPlane } from "../../api/cluster-api/index.ts";
import { Seed } from "../../api/index.ts";
import { selects } from "../../api/placement/choice.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { Obstacle } from "../shoot/obstacle.ts";

/** Why what an infrastructure brings does not go with the template of its Shoot: credentials of another provider, zones of another region. Pure. */
export function findMismatch(
  { spec }: Pick<ShootCluster, "spec">,
  controlPlane: ShootControlPlane | undefined,
): Obstacle | undefined {
  const { region, credentials } = spec ?? {};
  const template = controlPlane?.spec.shootTemplate?.spec;
  if (controlPlane === undefined || template === undefined) return undefined;
  const theirs = `of ShootControlPlane ${controlPlane.metadata.name}`;
  if (region !== undefined && template.region !== undefined && region !== template.region) {
    const message = `spec.region is ${region}, and the template ${theirs} says ${template.region}: say one of them`;
    return { reason: "RegionMismatch", message };
  }
  const hasOwn = template.credentialsBindingName !== undefined || template.secretBindingName !== undefined;
  const { type } = template.provider;
  if (credentials === undefined || hasOwn || credentials.providerType === type) return undefined;
  const message = `spec.credentials are for provider ${credentials.providerType}, and the Shoot ${theirs} is of ${type}`;
  return { reason: "CredentialsMismatch", message };
}

/**
 * That no Seed of the garden is one that an infrastructure's selector takes. Asked until the infrastructure is provisioned: from then
 * on the Shoot says itself how it stands with its Seed.
 */
export async function findNoSeed(
  garden: KubeClient,
  { spec, status }: Pick<ShootCluster, "spec" | "status">,
): Promise<Obstacle | undefined> {
  if (spec?.seedSelector === undefined || status?.initialization?.provisioned === true) return undefined;
  const seeds = await garden.list(Seed);
  if (seeds.some((seed) => selects(spec.seedSelector, seed))) return undefined;
  return { reason: "NoSeed", message: `spec.seedSelector takes none of the garden's ${seeds.length} Seeds` };
}
