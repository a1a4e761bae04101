import { EPOCH_ANNOTATION, HANDOVER_ANNOTATION, LEADERSHIP_RECORD_ANNOTATION } from "../../api/annotations.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { components, type ComponentName } from "../../components/index.ts";
import { isNamespaceTerminating, refOf, unlessGone, type KubeClient, type ObjectRef } from "../../kube/index.ts";
import { abandonObjects } from "./abandonment.ts";
import { releaseSource } from "../backup/source-entry.ts";
import { clusterRef } from "../control-plane/cluster.ts";
import { StepError } from "../failure.ts";
import { fenced, isFenced } from "../leadership/fenced-client.ts";
import type { WaitTarget } from "../index.ts";
import { createPodStops } from "./pod-stops.ts";
import { findPodMakers } from "./pod-makers.ts";
import { nameOf, scaleDown, type Workload } from "./scale-down.ts";
import { poll, type PollOptions } from "../poll.ts";
import type { Waits } from "../waits/waits.ts";

/** What taking a control plane out of service needs. */
export interface LeftoverDeps {
  /** A client that is not fenced: it is fenced here, but for the look whether fencing works. */
  readonly seedClient: KubeClient;
  readonly waits: Waits;
  /** How long Kubernetes' controllers may take to do as they are told; a minute unless told otherwise. */
  readonly polling?: PollOptions;
}

/**
 * Takes a Shoot's control plane out of service, in the seed that it leaves or has left. Nothing here lets a controller act
 * on infrastructure, and each function can be cut off at any point and called again.
 */
export function createLeftovers({ seedClient, waits, polling = { timeout: 60_000, period: 250 } }: LeftoverDeps) {
  const pods = createPodStops({ seedClient, waits, polling });

  return {
    /** Says in the namespace who leads, under which number, and to which one a planned migration hands over. */
    async markNamespace(run: ShootRun): Promise<void> {
      const handover = run.operation === "Migrate" ? String(run.epoch + 1) : null;
      const annotations = {
        [LEADERSHIP_RECORD_ANNOTATION]: run.leadershipRecord ?? null,
        [HANDOVER_ANNOTATION]: handover,
      };
      await fenced(seedClient, run).patch(namespaceRef(run), { metadata: { annotations } });
    },

    /**
     * From now on the namespace, and the Shoot's Cluster, take no write of an earlier epoch. Returns when the API server
     * has been seen to refuse one; fails when it doesn't, for want of the seed's policies.
     */
    async raiseFence(run: ShootRun): Promise<void> {
      const client = fenced(seedClient, run);
      const raised = await unlessGone(client.patch(namespaceRef(run), {}));
      await unlessGone(client.patch(clusterRef(run), {}));
      if (raised === undefined || raised.metadata.deletionTimestamp !== undefined) return;
      await poll(polling, async () => ((await refuses(seedClient, run)) ? undefined : withoutPolicies(run)));
    },

    /** Stops the pods of a component, and keeps its volumes. */
    async stopWorkload(run: ShootRun, component: ComponentName, step: string): Promise<WaitTarget[]> {
      const client = fenced(seedClient, run);
      const refs = components[component].rollout.filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet");
      const read = refs.map((ref) => seedClient.read<Workload>({ ...ref, namespace: run.technicalID }));
      const workloads = (await Promise.all(read)).filter((workload) => workload !== undefined);
      await scaleDown(client, workloads, polling);
      return (await Promise.all(workloads.map((workload) => pods.ofWorkload(run, workload, step)))).flat();
    },

    /** Stops every pod in the namespace, whoever made it, for good. */
    async stopEverything(run: ShootRun, step: string): Promise<WaitTarget[]> {
      const client = fenced(seedClient, run);
      const makers = await findPodMakers(seedClient, run.technicalID);
      await Promise.all(makers.map(({ object, change }) => unlessGone(client.patch(refOf(object), change))));
      const types = ["Deployment", "StatefulSet"].map((kind) => ({ apiVersion: "apps/v1", kind }));
      const workloads = types.map((type) => seedClient.list<Workload>(type, { namespace: run.technicalID }));
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
        const what = nameOf(running.object);
        throw new StepError(`cannot abandon the extension objects of ${run.technicalID}: ${what} is not stopped`);
      }
      await abandonObjects(seedClient, run);
      await releaseSource(fenced(seedClient, run), run);
    },
  };
}

const namespaceRef = ({ technicalID: name }: ShootRun): ObjectRef => ({ apiVersion: "v1", kind: "Namespace", name });

/** Whether a write of the epoch before is refused; nothing is written. In a namespace that goes, nothing can be made at all. */
async function refuses(seedClient: KubeClient, run: ShootRun): Promise<boolean> {
  const annotations = { [EPOCH_ANNOTATION]: String(run.epoch - 1) };
  const metadata = { name: "perennial-fence", namespace: run.technicalID, annotations };
  try {
    await seedClient.create({ apiVersion: "v1", kind: "ConfigMap", metadata }, { dryRun: true });
    return false;
  } catch (error) {
    if (isFenced(error) || isNamespaceTerminating(error)) return true;
    throw error;
  }
}

const withoutPolicies = ({ seedName, technicalID, epoch }: ShootRun): string =>
  `cannot fence namespace ${technicalID} of Seed ${seedName}: it still takes writes of epoch ${epoch - 1}; the seed needs the policies of deploy/seed/fencing.yaml`;
