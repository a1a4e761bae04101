import type { ShootRun } from "../../api/shoot/run.ts";
import { components, type ComponentName } from "../../components/index.ts";
import { inWords, Deployment, refOf, StatefulSet, unlessGone, type KubeClient } from "../../kube/index.ts";
import { abandonObjects } from "./abandonment.ts";
import { releaseSource } from "../backup/source-entry.ts";
import { StepError } from "../step-error.ts";
import { fenced } from "../leadership/fenced-client.ts";
import type { WaitTarget } from "../index.ts";
import { createPodStops } from "./pod-stops.ts";
import { findManagedResources, findPodMakers } from "./pod-makers.ts";
import { scaleDown } from "./scale-down.ts";
import { CONTROLLER_POLLING, type PollOptions } from "../poll.ts";
import type { Waits } from "../waits/waits.ts";

/** What a control plane is taken out of service with. */
export interface DecommissioningDeps {
  /** The seed's API server, not fenced: every write here is fenced by the run that it is for. */
  readonly seedClient: KubeClient;
  readonly waits: Waits;
  /** How long Kubernetes' controllers may take to do as they are told; a minute unless told otherwise. */
  readonly polling?: PollOptions;
}

/**
 * Takes a Shoot's control plane out of service, in the seed that it leaves or has left. Nothing here lets a controller act
 * on infrastructure, and each function can be cut off at any point and called again.
 */
export function createDecommissioning({ seedClient, waits, polling = CONTROLLER_POLLING }: DecommissioningDeps) {
  const pods = createPodStops({ seedClient, waits, polling });

  return {
    /** Stops the pods of a component, and keeps its volumes. */
    async stopWorkload(run: ShootRun, component: ComponentName, step: string): Promise<WaitTarget[]> {
      const client = fenced(seedClient, run);
      const read = components[component].rollout.flatMap(({ kind, name }) =>
        scalable.filter((one) => one.kind === kind).map((one) => seedClient.read(one, { ...namespaceOf(run), name })),
      );
      const workloads = (await Promise.all(read)).filter((workload) => workload !== undefined);
      await scaleDown(client, workloads, polling);
      return await pods.ofWorkloads(run, workloads, step);
    },

    /** Stops every pod in the namespace for good, also those that users or extensions made. */
    async stopWorkloads(run: ShootRun, step: string): Promise<WaitTarget[]> {
      const client = fenced(seedClient, run);
      const managed = await findManagedResources(seedClient, run.technicalID);
      await Promise.all(managed.map(({ object, change }) => unlessGone(client.patch(refOf(object), change))));
      const makers = await findPodMakers(seedClient, run.technicalID);
      await Promise.all(makers.map(({ object, change }) => unlessGone(client.patch(refOf(object), change))));
      const workloads = scalable.map((kind) => seedClient.list(kind, namespaceOf(run)));
      await scaleDown(client, (await Promise.all(workloads)).flat(), polling);
      return pods.ofNamespace(run, step);
    },

    /**
     * Deletes what extension controllers keep, without letting them act on what it stands for: the very version of an
     * object goes that has no finalizer, so no controller is ever asked. Refused while pods run, or the seed leads.
     */
    async abandonExtensions(run: ShootRun): Promise<void> {
      const [running] = await findPodMakers(seedClient, run.technicalID);
      if (running !== undefined) {
        const what = inWords(refOf(running.object));
        throw new StepError(`cannot abandon the extension objects of ${run.technicalID}: ${what} is not stopped`);
      }
      await abandonObjects(seedClient, run);
      await releaseSource(fenced(seedClient, run), run);
    },
  };
}

/** The kinds whose number of pods is set to nought; DaemonSets have none. */
const scalable = [Deployment, StatefulSet];

const namespaceOf = ({ technicalID: namespace }: ShootRun) => ({ namespace });
