import { CustomResourceDefinition, refOf, unlessGone, type KubeClient, type ResourceType } from "../../kube/index.ts";
import { isSpared } from "./spared.ts";
import { ask, free, isOverdue, ofDefinitions, type Graced } from "./users-objects.ts";

/** Lists the users' definitions of custom resources. */
export const usersDefinitions = async (shootClient: KubeClient): Promise<CustomResourceDefinition[]> =>
  (await shootClient.list(CustomResourceDefinition, ofDefinitions)).filter((one) => !isSpared(one));

/** Whether a kind is the one that this definition makes. */
export const defines = ({ spec }: CustomResourceDefinition, { apiVersion, kind }: ResourceType): boolean =>
  kind === spec.names.kind && apiVersion.startsWith(`${spec.group}/`);

/**
 * Takes a step towards the end of custom resources that the API server cannot list, convert or change. The deletion of their definition is asked
 * for at once, and its time is the clock. When that has had its grace, objects are converted without a webhook; what is refused
 * even then goes with the definition, which loses its finalizers.
 */
export async function bypass(shootClient: KubeClient, type: Graced): Promise<void> {
  const definition = (await usersDefinitions(shootClient)).find((one) => defines(one, type));
  if (definition === undefined) return;
  if (!isOverdue(definition, type.grace)) return await ask(shootClient, definition);
  if (definition.spec.conversion?.strategy !== "Webhook") return await free(shootClient, definition);
  const conversion = { strategy: "None", webhook: null };
  await unlessGone(shootClient.patch(refOf(definition), { spec: { conversion } }));
}
