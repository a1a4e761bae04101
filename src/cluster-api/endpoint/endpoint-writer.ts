import type { Cluster } from "../../api/cluster-api/index.ts";
import { ENDPOINT_MANAGER } from "../objects/field-managers.ts";

/** Who wrote the Cluster's endpoint last: its field manager; undefined where the API server does not say. */
export function endpointWriter({ metadata }: Pick<Cluster, "metadata">): string | undefined {
  const entries = (metadata.managedFields ?? []) as readonly ManagedFields[];
  const writers = entries
    .filter(({ fieldsV1 }) => fieldsV1?.["f:spec"]?.["f:controlPlaneEndpoint"] !== undefined)
    .sort((a, b) => (a.time ?? "").localeCompare(b.time ?? ""));
  const others = writers.filter(({ manager }) => manager !== ENDPOINT_MANAGER);
  return (others.at(-1) ?? writers.at(-1))?.manager;
}

/** Whether a field manager is a controller's, as upstream's images name them all, rather than a user's tool. */
export const isController = (manager: string | undefined): boolean =>
  manager === "manager" || manager === "cluster-api-manager";

interface ManagedFields {
  readonly manager?: string;
  readonly time?: string;
  readonly fieldsV1?: { readonly "f:spec"?: { readonly "f:controlPlaneEndpoint"?: object } };
}
