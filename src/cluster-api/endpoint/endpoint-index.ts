import type { ClusterEndpoint } from "../../api/cluster-api/index.ts";
import type { NamespacedKey } from "../../kube/index.ts";

/** Which endpoints each Cluster has, so that thousands of Clusters need not be searched for each of them. */
export interface EndpointIndex {
  /** Takes one change; an endpoint's Cluster never changes. */
  take(type: "added" | "updated" | "deleted", endpoint: ClusterEndpoint): void;
  namesOf(cluster: NamespacedKey): string[];
}

/** An index without entries. */
export function createEndpointIndex(): EndpointIndex {
  const names = new Map<string, Set<string>>();
  return {
    take(type, { metadata: { namespace, name }, spec: { cluster } }) {
      const key = `${namespace}/${cluster}`;
      const found = names.get(key) ?? new Set();
      if (type === "deleted") found.delete(name);
      else found.add(name);
      if (found.size > 0) names.set(key, found);
      else names.delete(key);
    },
    namesOf: ({ namespace, name }) => [...(names.get(`${namespace}/${name}`) ?? [])],
  };
}
