import type { ShootCluster } from "../../api/cluster-api/index.ts";
import type { GardenList } from "../shoot/world.ts";

/**
 * What has to be known of the garden for an infrastructure; undefined where nothing is asked of the garden. Its Seeds are looked
 * through until the infrastructure is provisioned. Pure.
 */
export function needsOf({ spec, status }: Pick<ShootCluster, "spec" | "status">): readonly GardenList[] | undefined {
  const ofDomain: readonly GardenList[] = spec?.endpoint === undefined ? [] : ["reservations"];
  const ofCredentials: readonly GardenList[] =
    spec?.credentials === undefined ? [] : ["gardenSecrets", "gardenBindings"];
  const lists = [...ofDomain, ...ofCredentials];
  const looksForSeed = spec?.seedSelector !== undefined && status?.initialization?.provisioned !== true;
  return lists.length > 0 || looksForSeed ? lists : undefined;
}
