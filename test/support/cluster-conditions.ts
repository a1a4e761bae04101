import { Cluster, type Condition } from "../../src/api/cluster-api/index.ts";
import { findCondition } from "../../src/cluster-api/objects/conditions.ts";
import type { KubeClient, NamespacedKey } from "../../src/kube/index.ts";

/** A condition of a Cluster, as the API server has it now. */
export const conditionOf = async (
  client: KubeClient,
  key: NamespacedKey,
  type: string,
): Promise<Condition | undefined> => findCondition(await conditions(client, key), type);

/** Status and reason of each condition of a Cluster, by its type. */
export const conditionsOf = async (client: KubeClient, key: NamespacedKey): Promise<Record<string, string[]>> =>
  Object.fromEntries((await conditions(client, key)).map(({ type, status, reason }) => [type, [status, reason]]));

const conditions = async (client: KubeClient, key: NamespacedKey): Promise<readonly Condition[]> =>
  (await client.read(Cluster, key))?.status?.conditions ?? [];
