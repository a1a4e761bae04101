import {
  EPOCH_ANNOTATION,
  HANDOVER_ANNOTATION,
  HANDOVER_RENEWED_ANNOTATION,
  LEADERSHIP_RECORD_ANNOTATION,
} from "../../api/annotations.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import {
  isNamespaceTerminating,
  Namespace,
  now,
  refTo,
  unlessGone,
  type KubeClient,
  type MergePatch,
} from "../../kube/index.ts";
import { clusterRef } from "../control-plane/cluster.ts";
import { CONTROLLER_POLLING, poll, type PollOptions } from "../poll.ts";
import { fenced, isFenced } from "./fenced-client.ts";

/** What a namespace is fenced with. */
export interface NamespaceFenceDeps {
  /** The seed's API server, not fenced: whether the fence holds is tried with it. */
  readonly seedClient: KubeClient;
  /** How long the API server may take to know of a raised fence; a minute unless told otherwise. */
  readonly polling?: PollOptions;
}

/** Writes into a Shoot's namespace what fences it: leadership record, epoch, and the epoch of a handover. */
export function createNamespaceFence({ seedClient, polling = CONTROLLER_POLLING }: NamespaceFenceDeps) {
  const annotate = async (run: ShootRun, handover: string | null): Promise<void> => {
    const annotations = {
      [LEADERSHIP_RECORD_ANNOTATION]: run.leadershipRecord ?? null,
      [HANDOVER_ANNOTATION]: handover,
      [HANDOVER_RENEWED_ANNOTATION]: handover === null ? null : now(),
    };
    await fenced(seedClient, run).patch(namespaceRef(run), { metadata: { annotations } } satisfies MergePatch);
  };

  return {
    /** Writes where the leadership record is, and that nothing is handed over. */
    announceLeader: (run: ShootRun): Promise<void> => annotate(run, null),

    /**
     * Writes to which epoch a planned migration hands over: the seed's own fence leaves the control plane to the flow, for as
     * long as the seed's worker renews this.
     */
    announceHandover: (run: ShootRun): Promise<void> => annotate(run, String(run.epoch + 1)),

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
  };
}

const namespaceRef = ({ technicalID: name }: ShootRun) => refTo(Namespace, { name });

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
