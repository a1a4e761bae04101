import { activityInfo, CompleteAsyncError, type ActivityInfo } from "../temporal.ts";
import { Worker } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { createReflector, Lease, Node, type KubeClient } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import { configurationProblem } from "../step-error.ts";
import type { WaitTarget } from "../index.ts";
import { nodesReady } from "./node-readiness.ts";
import { SYSTEM_NAMESPACE, systemReady, systemWorkloads } from "./system-readiness.ts";
import { nodeSigns, type Readiness } from "./readiness.ts";
import type { ShootClients } from "../shoot/clients.ts";
import type { Completer } from "./waits.ts";

/** `seedClient` reads pools; `shootClients` have our rights in the Shoots; `completer` is Temporal's client. */
export interface NodeWaitDeps {
  readonly seedClient: KubeClient;
  readonly shootClients: Pick<ShootClients, "get">;
  readonly completer: Pick<Completer, "complete">;
  readonly log: Logger;
  /** The activity that waits, and its timeout in ms; the calling one by default. */
  readonly asking?: () => Pick<ActivityInfo, "workflowExecution" | "activityId" | "startToCloseTimeoutMs">;
}

/**
 * Waits for the nodes of a Shoot, and for what pods on them cannot do without. They live in its own cluster: the activity
 * opens the watch, which closes when enough is ready or the wait's attempt is over; the next attempt, in whatever process,
 * opens it again. A Shoot that has moved brings along what its nodes said before: there, a node counts when it has renewed
 * its lease during the watch. After a takeover there is no such wait: nodes talk to the old API server for as long as that
 * runs, and it may run on unseen.
 */
export function createNodeWaits({ seedClient, shootClients, completer, log, asking = activityInfo }: NodeWaitDeps) {
  const look = async (run: ShootRun, target: WaitTarget) => {
    const [pools, shootClient] = await Promise.all([
      readPools(seedClient, run, target),
      shootClients.get(run.technicalID),
    ]);
    const [nodes, ...workloads] = await Promise.all([
      shootClient.list(Node, ofNodes),
      ...systemWorkloads.map((ref) => shootClient.read(ref)),
    ]);
    return { pools, shootClient, nodes, readiness: judge(nodes, workloads, pools, run.operation) };
  };

  const watch = async ({ operation }: ShootRun, { pools, shootClient, unheard }: Look) => {
    const { workflowExecution, activityId, startToCloseTimeoutMs } = asking();
    if (workflowExecution === undefined) throw new Error("only an activity of a workflow can wait");
    let known = false; // what was deployed: until then, nothing of it seems to be missing
    const settle = async () => {
      judging = undefined;
      const heard = nodes.list().filter(({ metadata: { name } }) => {
        const version = leases.get(name, leaseNamespace)?.metadata.resourceVersion;
        return !unheard.has(name) || (version !== undefined && version !== unheard.get(name));
      });
      const workloads = systemWorkloads.map(({ name }, index) => systems[index]?.get(name, SYSTEM_NAMESPACE));
      if (!known || !judge(heard, workloads, pools, operation).reached) return;
      stop();
      await completer.complete({ ...workflowExecution, activityId });
    };
    let judging: NodeJS.Timeout | undefined;
    const settleSoon = () => {
      judging ??= setTimeout(() => void settle().catch(notCompleted), GATHERING).unref();
    };
    const notCompleted = (error: unknown) =>
      log.error({ server: shootClient.server, activityId, err: error }, "cannot complete the wait for nodes");
    const nodes = createReflector(shootClient, Node, { ...ofNodes, log, onEvent: settleSoon });
    const leases = createReflector(shootClient, Lease, {
      namespace: leaseNamespace,
      ...ofLeases,
      log,
      onEvent: settleSoon,
    });
    const systems = systemWorkloads.map((type) =>
      createReflector(shootClient, type, { namespace: SYSTEM_NAMESPACE, log, onEvent: settleSoon }),
    );
    const watches = [nodes, ...systems, ...(unheard.size === 0 ? [] : [leases])];
    const stop = () => {
      clearTimeout(timer);
      clearTimeout(judging);
      for (const one of watches) void one.stop();
    };
    const timer = setTimeout(stop, startToCloseTimeoutMs).unref();
    for (const one of watches) one.start();
    Promise.all(systems.map((system) => system.synced()))
      .then(() => ((known = true), settleSoon()))
      .catch(() => undefined); // stopped before; the next attempt looks again
  };

  return {
    readiness: async (run: ShootRun, target: WaitTarget): Promise<Readiness> => (await look(run, target)).readiness,
    /** Returns when enough nodes are ready; otherwise leaves the activity to be completed from outside. */
    async wait(run: ShootRun, target: WaitTarget): Promise<void> {
      if (run.operation === "Restore" && run.migration?.takeover === true) return;
      const { pools, shootClient, nodes, readiness } = await look(run, target);
      const unheard = hasMoved(run) ? await versionsOfLeases(shootClient, nodes) : new Map<string, undefined>();
      if (readiness.reached && unheard.size === 0) return;
      await watch(run, { pools, shootClient, unheard });
      throw new CompleteAsyncError();
    },
  };
}

/** Whether the nodes are there, and what pods on them cannot do without; what was not deployed is left out. */
function judge(
  nodes: readonly KubeObject[],
  workloads: readonly (KubeObject | undefined)[],
  pools: Worker["spec"]["pools"],
  operation: ShootRun["operation"],
): Readiness {
  const readiness = nodesReady(nodes, pools, operation);
  const deployed = workloads.filter((workload) => workload !== undefined);
  return readiness.reached ? systemReady(nodes, deployed) : readiness;
}

/** What a watch begins with. */
interface Look {
  readonly pools: Worker["spec"]["pools"];
  readonly shootClient: KubeClient;
  /** Nodes that have to be heard of, by name, with the versions of the leases that they are not heard by yet. */
  readonly unheard: ReadonlyMap<string, string | undefined>;
}

const hasMoved = ({ operation, migration }: ShootRun): boolean =>
  operation === "Restore" && migration !== undefined && !migration.returning;

/** Kubelets renew theirs every ten seconds. A node without a lease counts by its conditions alone. */
async function versionsOfLeases(shootClient: KubeClient, nodes: readonly KubeObject[]) {
  const names = new Set(nodes.map(({ metadata }) => metadata.name));
  const leases = await shootClient.list(Lease, { namespace: leaseNamespace, ...ofLeases });
  const kept = leases.filter(({ metadata }) => names.has(metadata.name));
  return new Map(kept.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
}

/**
 * In ms: for how long news are gathered before all nodes are judged by them. Users of a Shoot have as many nodes as fit in `most`, and these
 * report as often as they like: judged with each of their reports, they would take up the worker that all Shoots share.
 */
const GATHERING = 250;

/** In characters of JSON. Users of a Shoot write its nodes and leases, as many and as large as they like. */
const most = 8_000_000;

const ofNodes = { most, keep: nodeSigns };

const ofLeases = {
  most,
  keep: ({ apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } }: Lease): Lease => ({
    ...{ apiVersion, kind, metadata: { name, namespace, ...omitUndefined({ uid, resourceVersion }) }, spec: {} },
  }),
};

const leaseNamespace = "kube-node-lease";

async function readPools(seedClient: KubeClient, run: ShootRun, { name }: WaitTarget) {
  const worker = await seedClient.read(Worker, { name, namespace: run.technicalID });
  if (worker === undefined) throw configurationProblem(`Worker ${run.technicalID}/${name} does not exist`);
  return worker.spec.pools;
}
