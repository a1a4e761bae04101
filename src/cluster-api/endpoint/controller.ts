import type { Cluster } from "../../api/cluster-api/index.ts";
import { createController, type NamespacedKey } from "../../kube/index.ts";
import type { ClusterApiDeps, Part } from "../part.ts";
import { adopt } from "./adopt.ts";
import { decide, type Decision } from "./decide.ts";
import { migrate } from "./generate.ts";
import { createProviderReader } from "./provider-objects.ts";
import { isMoving } from "./moving.ts";
import { isLeftToMove, isPaused } from "./paused.ts";
import type { probeEndpoint } from "./probe.ts";
import { createProber } from "./prober.ts";
import { report } from "./report.ts";
import { follow, surface } from "./surface.ts";
import { keepWhatStays } from "./stay.ts";
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

  async function reconcile(key: NamespacedKey): Promise<void> {
    const cluster = watched.cluster(key);
    const endpoints = watched.endpointsOf(key).filter((one) => !isLeftToMove(one));
    const { servingOf } = prober;
    if (cluster === undefined)
      return await report(work, { cluster, endpoints, decision: { losers: endpoints }, servingOf });
    await keepWhatStays(client, cluster, [cluster, ...watched.endpointsOf(key)]); // the watch brings it again
    if (cluster.metadata.deletionTimestamp !== undefined || isLeftToMove(cluster)) return;
    const decision = decide(cluster.spec, endpoints);
    if (isPaused(cluster)) return await report(work, { cluster, endpoints, decision, servingOf });
    if (generates && watched.endpointsOf(key).length === 0 && (await migrate(work, cluster))) return; // the watch brings it
    const current = await carryOut(cluster, decision);
    if (current === undefined) return;
    const adopted = await Promise.all(endpoints.map((endpoint) => adopt(client, endpoint, current)));
    const known = adopted.filter((endpoint) => endpoint !== undefined);
    await report(work, { cluster: current, endpoints: known, decision, servingOf });
  }

  /** The Cluster as it is then; undefined where a watch brings something newer first. */
  async function carryOut(cluster: Cluster, { winner, follow: value, surface: wanted }: Decision) {
    if (winner === undefined || isPaused(winner)) return cluster;
    if (value !== undefined) return void (await follow(work, winner, value));
    return wanted === undefined ? cluster : await surface(work, cluster, winner);
  }

  const controller = createController<NamespacedKey>({ name: "cluster-endpoint", reconcile, concurrency: 8, log });
  const prober = createProber({
    endpoint: (key) => watched.endpoint(key),
    trust: (cluster) => watched.trust(cluster),
    moves: (cluster) => isMoving(watched.cluster(cluster)),
    onChange: (cluster) => controller.enqueue(cluster),
    ...{ log, ...probing },
  });
  const watched = createWatched({
    ...{ client, log },
    onCluster: (key) => controller.enqueue(key),
    onProbe: (key) => prober.ask(key),
  });

  return {
    start() {
      watched.start();
      // Before everything is known, an object that was not seen yet could be taken for one that is not there.
      watched.synced().then(
        () => (controller.start(), prober.start()),
        () => log.info("stopped before the first lists"),
      );
    },
    async stop() {
      await watched.stop();
      await Promise.all([prober.stop(), controller.stop()]);
    },
  };
}
