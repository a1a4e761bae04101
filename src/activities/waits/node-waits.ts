import { activityInfo, CompleteAsyncError, type Info as ActivityInfo } from "@temporalio/activity";
import type { Worker } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { createReflector, type KubeClient } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { configurationProblem } from "../failure.ts";
import type { WaitTarget } from "../index.ts";
import { nodesReady } from "./node-readiness.ts";
import type { Standing } from "./readiness.ts";
import type { ShootClients } from "../shoot/clients.ts";
import type { Completer } from "./waits.ts";

/** What waiting for nodes needs. */
export interface NodeWaitDeps {
  readonly seed: KubeClient;
  readonly shootClients: Pick<ShootClients, "get">;
  readonly completer: Pick<Completer, "complete">;
  readonly log: Logger;
  /** Who asks, and for how long; the activity that this is called from unless told otherwise. */
  readonly asking?: () => Pick<ActivityInfo, "workflowExecution" | "startToCloseTimeoutMs">;
}

/**
 * Waits for the nodes of a Shoot, which live in its own cluster: the watch is opened by whoever waits, and closed when
 * the nodes are ready or the wait's attempt is over; the next attempt, in whatever process, opens it again. A Shoot that
 * has moved brings along what its nodes said before: there, each has to be heard of while somebody watches. After a
 * takeover nobody waits: nodes talk to the old API server for as long as that runs, and it may run on unseen.
 */
export function createNodeWaits({ seed, shootClients, completer, log, asking = activityInfo }: NodeWaitDeps) {
  const look = async (run: ShootRun, target: WaitTarget) => {
    const [pools, shoot] = await Promise.all([readPools(seed, run, target), shootClients.get(run.technicalID)]);
    const nodes = await shoot.list<KubeObject>(nodeType);
    return { pools, shoot, nodes, standing: nodesReady(nodes, pools) };
  };

  const watch = async ({ pools, shoot, unheard }: Look, { activityId }: WaitTarget) => {
    const { workflowExecution, startToCloseTimeoutMs } = asking();
    if (workflowExecution === undefined) throw new Error("only an activity of a workflow can wait");
    const settle = async () => {
      const silent = [...unheard].some(([name, version]) => {
        const { metadata } = leases.get(name, leaseNamespace) ?? {};
        return nodes.get(name) !== undefined && (metadata === undefined || metadata.resourceVersion === version);
      });
      if (silent || !nodesReady(nodes.list(), pools).reached) return;
      stop();
      await completer.complete({ ...workflowExecution, activityId });
    };
    const nodes = createReflector<KubeObject>(shoot, nodeType, { log, onEvent: settle });
    const leases = createReflector<KubeObject>(shoot, leaseType, {
      namespace: leaseNamespace,
      log,
      onEvent: settle,
    });
    const watches = unheard.size === 0 ? [nodes] : [nodes, leases];
    const stop = () => {
      clearTimeout(timer);
      for (const one of watches) void one.stop();
    };
    const timer = setTimeout(stop, startToCloseTimeoutMs).unref();
    for (const one of watches) one.start();
  };

  return {
    standing: async (run: ShootRun, target: WaitTarget): Promise<Standing> => (await look(run, target)).standing,
    /** Returns when the nodes are ready; otherwise leaves the activity to be completed from outside. */
    async wait(run: ShootRun, target: WaitTarget): Promise<void> {
      if (run.operation === "Restore" && run.migration?.takeover === true) return;
      const { pools, shoot, nodes, standing } = await look(run, target);
      const unheard = hasMoved(run) ? await versionsOfLeases(shoot, nodes) : new Map<string, undefined>();
      if (standing.reached && unheard.size === 0) return;
      await watch({ pools, shoot, unheard }, target);
      throw new CompleteAsyncError();
    },
  };
}

/** What a watch begins with. */
interface Look {
  readonly pools: Worker["spec"]["pools"];
  readonly shoot: KubeClient;
  /** Nodes that have to be heard of, by name, with the versions of the leases that they are not heard by yet. */
  readonly unheard: ReadonlyMap<string, string | undefined>;
}

const hasMoved = ({ operation, migration }: ShootRun): boolean =>
  operation === "Restore" && migration !== undefined && migration.source !== migration.destination;

/** Kubelets renew theirs every ten seconds. Whoever keeps none is believed. */
async function versionsOfLeases(shoot: KubeClient, nodes: readonly KubeObject[]) {
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  const leases = await shoot.list<KubeObject>(leaseType, { namespace: leaseNamespace });
  const kept = leases.filter(({ metadata }) => names.has(metadata.name));
  return new Map(kept.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
}

const leaseType = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" } as const;
const leaseNamespace = "kube-node-lease";

const nodeType = { apiVersion: "v1", kind: "Node" } as const;

async function readPools(seed: KubeClient, run: ShootRun, { apiVersion, kind, name }: WaitTarget) {
  const worker = await seed.read<Worker>({ apiVersion, kind, name, namespace: run.technicalID });
  if (worker === undefined) throw configurationProblem(`Worker ${run.technicalID}/${name} does not exist`);
  return worker.spec.pools;
}
