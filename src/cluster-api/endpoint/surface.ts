import type { Cluster, ClusterEndpoint } from "../../api/cluster-api/index.ts";
import { SURFACED_LABEL } from "../../api/labels.ts";
import { refOf } from "../../kube/index.ts";
import { patchSeen } from "./bound-writes.ts";
import { findCondition } from "./conditions.ts";
import { endpointWriter } from "./field-manager.ts";
import { generatedLabels, originOf } from "./generated.ts";
import { isPaused } from "./paused.ts";
import { completeEndpoint, isSameEndpoint, renderEndpoint, type Endpoint } from "./value.ts";
import type { EndpointWork } from "./work.ts";

/**
 * Writes the winner's value onto its Cluster, as the Cluster is now; returns that. Where another field manager has changed a value that was
 * surfaced, an Event names who. Undefined where the Cluster has gone or changed under the write: the watch brings it again.
 */
export async function surface(
  { client, events, log }: EndpointWork,
  seen: Cluster,
  winner: ClusterEndpoint,
): Promise<Cluster | undefined> {
  const cluster = await client.read(refOf(seen));
  if (cluster === undefined || cluster.metadata.uid !== seen.metadata.uid || isPaused(cluster)) return undefined;
  const { host, port } = winner.spec;
  const present = completeEndpoint(cluster.spec.controlPlaneEndpoint);
  if (isSameEndpoint(present, { host, port })) return cluster;
  const mark = originOf(winner) === undefined ? { labels: { [SURFACED_LABEL]: "true" } } : {};
  const written = await patchSeen(client, cluster, {
    metadata: mark,
    spec: { controlPlaneEndpoint: { host, port } },
  });
  if (written === undefined) return undefined;
  const endpoint = renderEndpoint({ host, port });
  const { name, namespace } = cluster.metadata;
  log.info({ cluster: `${namespace}/${name}`, clusterEndpoint: winner.metadata.name, endpoint }, "endpoint surfaced");
  if (present !== undefined && wasSurfaced(winner)) {
    const manager = endpointWriter(cluster) ?? "unknown";
    const note = `field manager ${manager} had changed spec.controlPlaneEndpoint to ${renderEndpoint(present)}: put back what ClusterEndpoint ${winner.metadata.name} says, ${endpoint}`;
    events.record({ regarding: written, type: "Warning", reason: "EndpointPutRight", action: "Surface", note });
  }
  return written;
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
