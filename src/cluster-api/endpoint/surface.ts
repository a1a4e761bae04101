import type { Cluster, ClusterEndpoint } from "../../api/cluster-api/index.ts";
import { SURFACED_LABEL } from "../../api/labels.ts";
import { refOf } from "../../kube/index.ts";
import { patchSeen } from "../objects/bound-writes.ts";
import { findCondition } from "../objects/conditions.ts";
import { isPaused } from "../objects/paused.ts";
import { endpointWriter } from "./endpoint-writer.ts";
import { generatedLabels, originOf } from "./generated.ts";
import { isOrphan } from "./orphan.ts";
import { completeEndpoint, isSameEndpoint, renderEndpoint, type Endpoint } from "./value.ts";
import type { EndpointWork } from "./work.ts";

/**
 * Writes the winner's value onto its Cluster, as the Cluster is now; returns that. Where another field manager has changed a value that was
 * surfaced, an Event names who. Undefined where the Cluster has gone or changed under the write, or the winner is about to go: the watch
 * brings it again.
 */
export async function surface(
  work: EndpointWork,
  seen: Cluster,
  winner: ClusterEndpoint,
): Promise<Cluster | undefined> {
  const { client, log } = work;
  const cluster = await client.read(refOf(seen));
  if (cluster === undefined || cluster.metadata.uid !== seen.metadata.uid || isPaused(cluster)) return undefined;
  const { host, port } = winner.spec;
  if (isSameEndpoint(completeEndpoint(cluster.spec.controlPlaneEndpoint), { host, port })) return cluster;
  if (await isOutdated(work, cluster, winner)) return undefined;
  const mark = originOf(winner) === undefined ? { labels: { [SURFACED_LABEL]: "true" } } : {};
  const written = await patchSeen(client, cluster, {
    metadata: mark,
    spec: { controlPlaneEndpoint: { host, port } },
  });
  if (written === undefined) return undefined;
  const { name, namespace } = cluster.metadata;
  const endpoint = renderEndpoint({ host, port });
  log.info({ cluster: `${namespace}/${name}`, clusterEndpoint: winner.metadata.name, endpoint }, "endpoint surfaced");
  await tellForeignEdit(work, cluster, winner);
  return written;
}

/** Whether a winner by what the caches knew is none: a generated object follows a whole endpoint, and one that is about to go says nothing. */
async function isOutdated({ providers }: EndpointWork, cluster: Cluster, winner: ClusterEndpoint): Promise<boolean> {
  const isFollower =
    originOf(winner) !== undefined && completeEndpoint(cluster.spec.controlPlaneEndpoint) !== undefined;
  return isFollower || (await isOrphan(winner, cluster, providers));
}

/** Who has emptied a field is not known: the API server notes the writers of what is there. */
async function tellForeignEdit(
  { client, events }: EndpointWork,
  found: Cluster,
  winner: ClusterEndpoint,
): Promise<void> {
  const present = completeEndpoint(found.spec.controlPlaneEndpoint);
  if (present === undefined && !(SURFACED_LABEL in (found.metadata.labels ?? {}))) return;
  // An edit may be seen before our own word that the value was surfaced.
  const read = await client.read(refOf(winner)).catch(() => undefined);
  if (!wasSurfaced(read ?? winner)) return;
  const edit =
    present === undefined
      ? "spec.controlPlaneEndpoint had been emptied"
      : `field manager ${endpointWriter(found) ?? "unknown"} had changed spec.controlPlaneEndpoint to ${renderEndpoint(present)}`;
  const note = `${edit}: put back what ClusterEndpoint ${winner.metadata.name} says, ${renderEndpoint(winner.spec)}`;
  events.record({ regarding: found, type: "Warning", reason: "EndpointPutRight", action: "Surface", note });
}

/** Whether it was on its Cluster as it is now: then another value there is a foreign edit. */
function wasSurfaced({ metadata, status }: ClusterEndpoint): boolean {
  const surfaced = findCondition(status?.conditions, "Surfaced");
  return surfaced?.status === "True" && surfaced.observedGeneration === metadata.generation;
}

/** Gives a generated endpoint the value that its Cluster has got: it follows the Cluster, never the other way round. */
export async function follow({ client }: EndpointWork, endpoint: ClusterEndpoint, value: Endpoint): Promise<void> {
  const labels = generatedLabels(originOf(endpoint) ?? "provider", value);
  await patchSeen(client, endpoint, { metadata: { labels }, spec: { ...value } });
}
