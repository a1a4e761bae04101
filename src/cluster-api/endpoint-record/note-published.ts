import { isDeepStrictEqual } from "node:util";
import type { EndpointRecord } from "../../api/cluster-api/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import { patchSeen } from "../objects/bound-writes.ts";
import type { Values } from "./values.ts";

/**
 * Writes into a record's spec what the DNS says of its name, or that it says nothing of it (undefined): `clusterctl move` takes no
 * status along, and what is in the DNS has to be known where the record goes. True where the spec says so already.
 */
export async function notePublished(
  client: KubeClient,
  record: EndpointRecord,
  published: Values | undefined,
): Promise<boolean> {
  if (isDeepStrictEqual(record.spec.published, published && { ...published, values: [...published.values] }))
    return true;
  await patchSeen(client, record, { spec: { published: published ?? null } });
  return false;
}
