import type { ShootCluster, ShootControlPlane } from "../../api/cluster-api/index.ts";
import { counted } from "../../api/counted.ts";
import { Seed } from "../../api/index.ts";
import { selects } from "../../api/placement/choice.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { Obstacle } from "../objects/obstacle.ts";

/** Why an infrastructure does not fit its Shoot's template: another region, or another provider's credentials. Pure. */
export function findMismatch(
  { spec }: Pick<ShootCluster, "spec">,
  controlPlane: ShootControlPlane | undefined,
): Obstacle | undefined {
  const template = controlPlane?.spec.shootTemplate?.spec;
  if (controlPlane === undefined || template === undefined) return undefined;
  const { name } = controlPlane.metadata;
  return findRegionMismatch(spec?.region, template.region, name) ?? findCredentialsMismatch(spec, template, name);
}

function findRegionMismatch(own: string | undefined, theirs: string | undefined, name: string): Obstacle | undefined {
  if (own === undefined || theirs === undefined || own === theirs) return undefined;
  const message = `spec.region is ${own}, and the template of ShootControlPlane ${name} says ${theirs}: say one of them`;
  return { reason: "RegionMismatch", message };
}

function findCredentialsMismatch(spec: ShootCluster["spec"], template: Template, name: string): Obstacle | undefined {
  const { credentialsBindingName, secretBindingName, provider } = template;
  const hasOwn = credentialsBindingName !== undefined || secretBindingName !== undefined;
  const brought = spec?.credentials?.providerType;
  if (brought === undefined || hasOwn || brought === provider.type) return undefined;
  const message = `spec.credentials are for provider ${brought}, and the Shoot of ShootControlPlane ${name} is of ${provider.type}`;
  return { reason: "CredentialsMismatch", message };
}

type Template = NonNullable<ShootControlPlane["spec"]["shootTemplate"]>["spec"];

/**
 * Says `NoSeed` where the selector takes none of the garden's Seeds. Asked until the infrastructure is provisioned: from then
 * on the Shoot says itself how it stands with its Seed.
 */
export async function findNoSeed(
  garden: KubeClient,
  { spec, status }: Pick<ShootCluster, "spec" | "status">,
): Promise<Obstacle | undefined> {
  if (spec?.seedSelector === undefined || status?.initialization?.provisioned === true) return undefined;
  const seeds = await garden.list(Seed);
  if (seeds.some((seed) => selects(spec.seedSelector, seed))) return undefined;
  return { reason: "NoSeed", message: `spec.seedSelector takes none of the garden's ${counted(seeds.length, "Seed")}` };
}
