import { listed } from "../../api/counted.ts";
import { PersistentVolume, type KubeClient, type ResourceType } from "../../kube/index.ts";
import { StepError } from "../step-error.ts";
import type { CleanUpLimits } from "./clean-up-limits.ts";
import { bypass, defines, usersDefinitions } from "./definitions.ts";
import { ofVolumes, removeUsers, type Graced } from "./users-objects.ts";

/**
 * Deletes what users made in a Shoot, while its controllers still run: load balancers, volumes and whatever else their
 * objects stand for go with them. Each phase deletes, then looks until nothing is left; `alive` is called between looks.
 * What has had its grace and is still there loses its finalizers, and what cannot even be listed its conversion or its definition.
 */
export interface ResourceCleaner {
  /** Webhooks and policies that could refuse the deletions that follow. */
  webhooks(): Promise<void>;
  /** Custom resources, their definitions, and aggregated APIs. */
  extendedApis(): Promise<void>;
  /** Everything else, and at last the namespaces. */
  kubernetesResources(): Promise<void>;
}

/** How long a call may take, in ms, and how often it looks. */
export interface CleanerOptions {
  readonly deadline: number;
  readonly interval: number;
}

/** The clean-up of one Shoot. A call ends within its time, so that it is it that says what is left, and not a time-out. */
export function createResourceCleaner(
  shootClient: KubeClient,
  { grace, outsideOnly }: CleanUpLimits,
  alive: () => void,
  polling: CleanerOptions = { deadline: 600_000, interval: 2_000 },
): ResourceCleaner {
  const pause = async () => {
    alive();
    await new Promise((resolve) => setTimeout(resolve, polling.interval));
  };
  const begin = () => {
    const deadline = Date.now() + polling.deadline;
    return {
      /** A controller that still runs may put what refuses deletions back: `gatekeepers` go before each look, and are not waited for. */
      async phase(what: string, types: readonly Graced[], gatekeepers: readonly Graced[] = []) {
        for (;;) {
          const left: string[] = [];
          for (const type of gatekeepers) await removeUsers(shootClient, type);
          for (const type of types) {
            const removal = await removeUsers(shootClient, type);
            left.push(...removal.left);
            if (removal.refusal !== undefined) await bypass(shootClient, type);
          }
          if (left.length === 0) return;
          if (Date.now() > deadline) throw leftovers(what, left, polling);
          await pause();
        }
      },
      /** Volumes are not deleted here: their provisioner deletes the disk first. One whose provisioner is gone, too, stays. */
      async awaitVolumes(seconds: number) {
        const end = Math.min(deadline, Date.now() + seconds * 1_000);
        while (Date.now() < end && (await shootClient.list(PersistentVolume, ofVolumes)).some(goesWithClaim))
          await pause();
      },
    };
  };
  const typesOf = async (seconds: number, chosen: (type: ResourceType) => boolean): Promise<Graced[]> =>
    (await shootClient.types()).filter(chosen).map((type) => ({ ...type, grace: seconds }));
  const ofKinds = (seconds: number, kinds: ReadonlySet<string>) => typesOf(seconds, ({ kind }) => kinds.has(kind));

  const gatekeepersNow = () => ofKinds(grace.webhooks, gatekeepers);

  return {
    webhooks: async () => begin().phase("webhooks", await gatekeepersNow()),
    async extendedApis() {
      if (outsideOnly) return;
      const { phase } = begin();
      const definitions = await usersDefinitions(shootClient);
      const isCustom = (type: ResourceType) => definitions.some((one) => defines(one)(type));
      await phase("custom resources", await typesOf(grace.extendedApis, isCustom), await gatekeepersNow());
      await phase("extended APIs", await ofKinds(grace.extendedApis, extendedApis), await gatekeepersNow());
    },
    async kubernetesResources() {
      const { phase, awaitVolumes } = begin();
      const { kubernetesResources: seconds, snapshots: longer } = grace;
      const before = await gatekeepersNow();
      await phase("workloads and services", await ofKinds(seconds, outsideOnly ? services : makers), before);
      await phase("storage", [...(await ofKinds(seconds, claims)), ...(await ofKinds(longer, snapshots))], before);
      await awaitVolumes(seconds);
      if (!outsideOnly) await phase("namespaces", await ofKinds(seconds, namespaces), before);
    },
  };
}

const goesWithClaim = ({ spec }: PersistentVolume): boolean =>
  spec.claimRef !== undefined && spec.persistentVolumeReclaimPolicy === "Delete";

/** What can refuse that an object is deleted, or that its finalizers go. */
const gatekeepers = new Set([
  "ValidatingWebhookConfiguration",
  "MutatingWebhookConfiguration",
  "ValidatingAdmissionPolicyBinding",
  "ValidatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
  "MutatingAdmissionPolicy",
]);

const extendedApis = new Set(["CustomResourceDefinition", "APIService"]);

/** What makes other objects, and what stands for something outside the cluster, before what is used by them. */
const makers = new Set([
  "Ingress",
  "CronJob",
  "Job",
  "Deployment",
  "StatefulSet",
  "DaemonSet",
  "ReplicaSet",
  "ReplicationController",
  "Service",
  "Pod",
]);
const services = new Set(["Service"]);
const claims = new Set(["PersistentVolumeClaim"]);
const snapshots = new Set(["VolumeSnapshot", "VolumeSnapshotContent"]);
const namespaces = new Set(["Namespace"]);

function leftovers(what: string, left: readonly string[], { deadline }: CleanerOptions): StepError {
  const message = `cannot clean up ${what}: still there after ${deadline / 1_000} s: ${listed(left, 5)}`;
  return new StepError(message, ["ERR_CLEANUP_CLUSTER_RESOURCES"]);
}
