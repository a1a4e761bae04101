import { createController, type NamespacedKey } from "../../kube/index.ts";
import { startWhenSynced, type ClusterApiDeps, type Part } from "../part.ts";
import { isMoving } from "./moving.ts";
import type { probeEndpoint } from "./probe.ts";
import { createProber } from "./prober.ts";
import { createProviderReader } from "./provider-objects.ts";
import { reconcileCluster } from "./reconcile.ts";
import { createWatched } from "./watched.ts";

/** How endpoints are asked whether they serve; times are ms. */
export interface EndpointControllerOptions {
  /** How often each; a minute unless told otherwise. */
  readonly period?: number;
  readonly probe?: typeof probeEndpoint;
}

/** Makes the winner of a Cluster's ClusterEndpoints the Cluster's endpoint, and says of each whether it is, and whether it serves. */
export function createEndpointController(deps: ClusterApiDeps, probing: EndpointControllerOptions = {}): Part {
  const { management: client, events, generatesEndpoints: generates = true } = deps;
  const log = deps.log.child({ part: "cluster-endpoint" });
  const providers = createProviderReader(client);
  const work = { client, events, providers, log };

  const reconcile = (key: NamespacedKey) =>
    reconcileCluster(work, {
      cluster: watched.cluster(key),
      endpoints: watched.endpointsOf(key),
      servingOf: prober.servingOf,
      generates,
    });

  const controller = createController<NamespacedKey>({ name: "cluster-endpoint", reconcile, concurrency: 8, log });
  const prober = createProber({
    endpoint: (key) => watched.endpoint(key),
    trust: (cluster) => watched.trust(cluster),
    moves: (cluster) => isMoving(watched.cluster(cluster)),
    onChange: (cluster) => controller.enqueue(cluster),
    ...{ log, ...probing },
  });
  const watched = createWatched({
    ...{ client, log, watches: deps.watches },
    onCluster: (key) => controller.enqueue(key),
    onProbe: (key) => prober.ask(key),
  });

  return startWhenSynced(watched, [controller, prober], log);
}
