import { profileReference } from "../../api/core/effective-profile.ts";
import { REGION_PROFILES_ANNOTATION } from "../../api/annotations.ts";
import type { Shoot } from "../../api/index.ts";
import { SCHEDULING_PURPOSE_LABEL } from "../../api/labels.ts";
import { GARDEN_NAMESPACE } from "../../api/names.ts";
import type { Distances } from "../../api/placement/strategy.ts";
import { ConfigMap, type KubeClient } from "../../kube/index.ts";
import { parseYaml } from "../../parsing.ts";

/**
 * How far other regions are from the Shoot's, as the garden's ConfigMap for its CloudProfile says; undefined where there is
 * none, or it does not know the region (Gardener: scheduler, region ConfigMaps). Throws where it is not written as numbers.
 */
export async function readDistances(client: KubeClient, shoot: Shoot): Promise<Distances | undefined> {
  const profile = profileReference(shoot)?.name ?? "";
  const labelSelector = `${SCHEDULING_PURPOSE_LABEL}=region-config`;
  const found = await client.list(ConfigMap, { namespace: GARDEN_NAMESPACE, labelSelector });
  const [config] = found
    .filter(({ metadata }) => listed(metadata.annotations?.[REGION_PROFILES_ANNOTATION] ?? "").includes(profile))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const text = config?.data?.[shoot.spec.region];
  if (config === undefined || !text) return undefined;
  const what = `region ${shoot.spec.region} in ConfigMap ${GARDEN_NAMESPACE}/${config.metadata.name}`;
  return numbersIn(parseYaml(text, what), what);
}

const listed = (names: string): string[] => names.split(",").map((name) => name.trim());

function numbersIn(value: unknown, what: string): Distances {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (entries.length === 0 || entries.some(([, distance]) => typeof distance !== "number"))
    throw new Error(`${what} has to name other regions, each with a number`);
  return Object.fromEntries(entries);
}
