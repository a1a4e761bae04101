import { hostname } from "node:os";
import { CLUSTER_API_CONTROLLER } from "../src/api/index.ts";
import { controllers } from "../src/cluster-api/controllers.ts";
import { createEndpointController } from "../src/cluster-api/endpoint/controller.ts";
import { probeEndpoint } from "../src/cluster-api/endpoint/probe.ts";
import { electLeader } from "../src/cluster-api/lead.ts";
import type { ClusterApiDeps } from "../src/cluster-api/part.ts";
import { serveAll, webhooks } from "../src/cluster-api/webhooks.ts";
import { createEventRecorder, createKubeClient } from "../src/kube/index.ts";
import { createLogger } from "../src/log.ts";
import { counting, type Requests } from "./counting-client.ts";

/** What the process has done and what it holds; memory after a garbage collection, in bytes, CPU in seconds. */
export interface Spending {
  readonly requests: Requests;
  readonly probes: number;
  readonly heap: number;
  readonly resident: number;
  readonly cpu: number;
}

/**
 * Process `cluster-api`, put together as its `main.ts` does, for one cluster that is management cluster and garden:
 * `cluster-api-process.ts <kubeconfig> <whether it takes Clusters over>`. It answers each message with its {@link Spending}.
 */
async function main([file = "", takesOver]: readonly string[]): Promise<void> {
  const log = createLogger({ name: "bench-cluster-api", level: "error" });
  const requests: Requests = {};
  let probes = 0;
  const client = createKubeClient({ file }, { log, fieldManager: "perennial-cluster-api" });
  const management = counting(client, "management", requests);
  const reporter = { client: management, controller: CLUSTER_API_CONTROLLER, instance: hostname() };
  const events = createEventRecorder({ ...reporter, log });
  const deps = { management, garden: management, events, log, generatesEndpoints: takesOver === "true" };
  const namespace = "perennial";
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const probe: typeof probeEndpoint = (...asked) => {
    probes += 1;
    return probeEndpoint(...asked);
  };
  const counted = controllers.map((create) =>
    create === createEndpointController ? (o: ClusterApiDeps) => createEndpointController(o, { probe }) : create,
  );
  const leader = electLeader({ ...deps, namespace, controllers: counted });
  process.once("disconnect", () => process.exit(0));
  process.on("message", (asked) => {
    if (asked === "stop") return void leader.stop().then(() => process.exit(0)); // the next leads at once
    globalThis.gc?.();
    const { heapUsed: heap, rss: resident } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    process.send?.({ requests, probes, heap, resident, cpu: (user + system) / 1e6 } satisfies Spending);
  });
  await serveAll({ ...deps, host: "127.0.0.1", port: 0, namespace, webhooks });
  leader.start();
  process.send?.("ready");
}

await main(process.argv.slice(2));
