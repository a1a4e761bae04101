import { Cluster, ClusterEndpoint } from "../api/cluster-api/index.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import { createReflector, indexBy, type KubeClient, type NamespacedKey, type Reflector } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import { keepTrust, TRUST_SECRETS, TrustSecret } from "./endpoint/trust.ts";
import { essentialCluster, withoutLastApplied } from "./kept.ts";

/** Watches of the management cluster that several parts listen to, one for each kind. The first part that needs one starts it. */
export interface Watches {
  /** Of each Cluster, what {@link essentialCluster} leaves. */
  readonly clusters: Reflector<Cluster>;
  readonly endpoints: Reflector<ClusterEndpoint>;
  endpointsOf(cluster: NamespacedKey): ClusterEndpoint[];
  /** Cluster API's own Secrets, without keys and credentials. */
  readonly secrets: Reflector<TrustSecret>;
}

/** The watches of one term of leading: they are not started yet, and not again once they were stopped. */
export function createWatches({ management, log }: { readonly management: KubeClient; readonly log: Logger }): Watches {
  const endpoints = createReflector(management, ClusterEndpoint, { log, keep: withoutLastApplied });
  const byCluster = indexBy(endpoints, ({ metadata, spec }) => `${metadata.namespace}/${spec.cluster}`);
  return {
    clusters: createReflector(management, Cluster, { log, keep: essentialCluster }),
    endpoints,
    endpointsOf: ({ namespace, name }) => byCluster(`${namespace}/${name}`),
    secrets: createReflector(management, TrustSecret, { log, fieldSelector: TRUST_SECRETS, keep: keepTrust }),
  };
}

/** By what an object is asked for. */
export const keyOf = ({ metadata: { name, namespace = "" } }: Pick<KubeObject, "metadata">): NamespacedKey => ({
  name,
  namespace,
});
