import { Cluster, ClusterEndpoint } from "../../api/cluster-api/index.ts";
import { findCondition } from "../../cluster-api/objects/conditions.ts";
import { decide } from "../../cluster-api/endpoint/decide.ts";
import { rankOf, ranks } from "../../cluster-api/endpoint/rank.ts";
import { completeEndpoint, renderEndpoint } from "../../cluster-api/endpoint/value.ts";
import { surfacedCondition } from "../../cluster-api/endpoint/verdict.ts";
import type { KubeClient } from "../../kube/index.ts";

/** One candidate for the endpoint of a Cluster. */
export interface EndpointReport {
  readonly namespace: string;
  readonly cluster: string;
  readonly name: string;
  readonly endpoint: string;
  readonly type: string;
  /** Whose word it is, as it is said of an object. */
  readonly rank: string;
  readonly wins: boolean;
  /** Why it wins or does not. */
  readonly why: string;
  /** Whether it serves, why not, and since when. */
  readonly serves: string;
  readonly reason: string;
  readonly since?: string;
}

/** A Cluster with all candidates for its endpoint, those first that go before others. */
export interface ClusterReport {
  readonly namespace: string;
  readonly cluster: string;
  /** What the Cluster says now; undefined while it says nothing whole, or does not exist. */
  readonly endpoint?: string;
  readonly candidates: readonly EndpointReport[];
}

/** Every Cluster that has an endpoint or a candidate for one, in a namespace or in all; reads only. */
export async function reportEndpoints(client: KubeClient, namespace: string | undefined): Promise<ClusterReport[]> {
  const selection = namespace === undefined ? {} : { namespace };
  const clusters = await client.list(Cluster, selection);
  const endpoints = await client.list(ClusterEndpoint, selection);
  const byCluster = Map.groupBy(endpoints, ({ metadata, spec }) => `${metadata.namespace}/${spec.cluster}`);
  const known = new Map(clusters.map((cluster) => [`${cluster.metadata.namespace}/${cluster.metadata.name}`, cluster]));
  return [...new Set([...known.keys(), ...byCluster.keys()])]
    .sort()
    .map((key) => reportCluster(key, known.get(key), byCluster.get(key) ?? []))
    .filter(({ endpoint, candidates }) => endpoint !== undefined || candidates.length > 0);
}

function reportCluster(key: string, cluster: Cluster | undefined, all: readonly ClusterEndpoint[]): ClusterReport {
  const [namespace = "", name = ""] = key.split("/");
  const decision = decide(cluster?.spec ?? {}, all);
  const candidates = [...(decision.winner ? [decision.winner] : []), ...decision.losers].map((endpoint) =>
    reportEndpoint(endpoint, cluster, { winner: decision.winner, isAlone: all.length === 1 }),
  );
  const present = completeEndpoint(cluster?.spec.controlPlaneEndpoint);
  return { namespace, cluster: name, ...(present && { endpoint: renderEndpoint(present) }), candidates };
}

function reportEndpoint(
  endpoint: ClusterEndpoint,
  cluster: Cluster | undefined,
  { winner, isAlone }: { readonly winner: ClusterEndpoint | undefined; readonly isAlone: boolean },
): EndpointReport {
  const { namespace, name } = endpoint.metadata;
  const wins = cluster !== undefined && winner === endpoint;
  const serving = findCondition(endpoint.status?.conditions, "Serving");
  return {
    ...{ namespace, name, cluster: endpoint.spec.cluster, type: endpoint.spec.type, wins },
    endpoint: renderEndpoint(endpoint.spec),
    rank: ranks[rankOf(endpoint, cluster?.spec ?? {})],
    why: wins ? whyItWins(isAlone) : surfacedCondition(endpoint, cluster, winner ? { winner } : {}).message,
    serves: serving?.status ?? "Unknown",
    reason: serving?.message ?? "the process cluster-api has not looked yet",
    ...(serving && { since: serving.lastTransitionTime }),
  };
}

const whyItWins = (isAlone: boolean): string => (isAlone ? "it is the only candidate" : "it goes before all others");

/** Whether an endpoint serves, in a word for people. */
export const servesInWords = ({ serves }: EndpointReport): string => words.get(serves) ?? "unknown";

const words: ReadonlyMap<string, string> = new Map([
  ["True", "yes"],
  ["False", "no"],
]);
