import { KubeError, type KubeClient } from "../../kube/index.ts";
import type { Obstacle } from "../objects/obstacle.ts";

/**
 * The outcome of work in both clusters. What one of them refuses for good, such as for want of a right or of a definition, is said first,
 * with the name of the cluster that has answered; then it is thrown, as all else is.
 */
export async function unlessRefused<T>(
  clusters: Clusters,
  work: Promise<T>,
  sayIt: (refusal: Obstacle) => Promise<void>,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const refusal = refusalIn(clusters, error);
    if (refusal !== undefined) await sayIt(refusal);
    throw error;
  }
}

/** The clusters in which work is done; they may be one. */
export interface Clusters {
  readonly management: Pick<KubeClient, "server">;
  readonly garden: Pick<KubeClient, "server">;
}

function refusalIn(clusters: Clusters, error: unknown): Obstacle | undefined {
  if (!(error instanceof KubeError) || ![401, 403, 404].includes(error.status)) return undefined;
  const cluster = clusterAt(clusters, error.server);
  return cluster === undefined
    ? undefined
    : { reason: "RequestRefused", message: `${cluster} refuses a request: ${error.message}` };
}

/** Which cluster an API server is, in words; undefined for any other, such as a Shoot's. */
function clusterAt({ management, garden }: Clusters, server: string | undefined): string | undefined {
  if (server === garden.server) return management.server === garden.server ? "the cluster" : "the garden";
  return server === management.server ? "the management cluster" : undefined;
}
