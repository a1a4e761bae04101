import type { Cluster, ClusterEndpoint } from "../../api/cluster-api/index.ts";
import { COMPOSER, ENDPOINT_MANAGER } from "../objects/field-managers.ts";
import type { Endpoint } from "./value.ts";

/** Who wrote the Cluster's endpoint last: its field manager; undefined where the API server does not say. */
export function endpointWriter({ metadata }: Pick<Cluster, "metadata">): string | undefined {
  const writers = writersOf({ metadata }, "f:controlPlaneEndpoint");
  const others = writers.filter(({ manager }) => manager !== ENDPOINT_MANAGER);
  return (others.at(-1) ?? writers.at(-1))?.manager;
}

/**
 * Who has edited a ClusterEndpoint that a provider of ours keeps, so that it does not say the `wanted` value: the field manager. Undefined
 * where it was not edited since it was made, as `clusterctl move` makes it anew, or where its provider wrote it last.
 */
export function endpointEditor({ metadata, spec }: ClusterEndpoint, wanted: Endpoint): string | undefined {
  if ((metadata.generation ?? 1) === 1) return undefined;
  const hosts = spec.host === wanted.host ? [] : writersOf({ metadata }, "f:host");
  const ports = spec.port === wanted.port ? [] : writersOf({ metadata }, "f:port");
  return [...hosts, ...ports].findLast(({ manager }) => manager !== COMPOSER)?.manager;
}

/** The field managers that have written a field of an object's spec, the last one last. */
function writersOf({ metadata }: Pick<Cluster, "metadata">, field: `f:${string}`): readonly ManagedFields[] {
  const entries = (metadata.managedFields ?? []) as readonly ManagedFields[];
  return entries
    .filter(({ fieldsV1 }) => fieldsV1?.["f:spec"]?.[field] !== undefined)
    .sort((a, b) => (a.time ?? "").localeCompare(b.time ?? ""));
}

/** Whether a field manager is a controller's, as upstream's images name them all, rather than a user's tool. */
export const isController = (manager: string | undefined): boolean =>
  manager === "manager" || manager === "cluster-api-manager";

interface ManagedFields {
  readonly manager?: string;
  readonly time?: string;
  readonly fieldsV1?: { readonly "f:spec"?: Readonly<Record<`f:${string}`, object>> };
}
