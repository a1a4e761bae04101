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
      /** A controller that still runs may put what refuses deletions back: those of `before` go before each look, and are not waited for. */
      async phase(what: string, types: readonly Graced[], before: readonly Graced[] = []) {
        for (;;) {
          const left: string[] = [];
          for (const type of before) await removeUsers(shootClient, type);
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
  /** The kinds that the API server has now, by how long their objects may take to go. */
  const readKinds = async () => {
    const types = await shootClient.types();
    const chosen = (seconds: number, isChosen: (type: ResourceType) => boolean): Graced[] =>
      types.filter(isChosen).map((type) => ({ ...type, grace: seconds }));
    const named = (seconds: number, kinds: ReadonlySet<string>) => chosen(seconds, ({ kind }) => kinds.has(kind));
    return { chosen, named, gatekeepers: named(grace.webhooks, gatekeepers) };
  };

  return {
    webhooks: async () => begin().phase("webhooks", (await readKinds()).gatekeepers),
    async extendedApis() {
      if (outsideOnly) return;
      const { phase } = begin();
      const { chosen, named, gatekeepers: before } = await readKinds();
      const definitions = await usersDefinitions(shootClient);
      const isCustom = (type: ResourceType) => definitions.some((definition) => defines(definition, type));
      await phase("custom resources", chosen(grace.extendedApis, isCustom), before);
      await phase("extended APIs", named(grace.extendedApis, extendedApis), before);
    },
    async kubernetesResources() {
      const { phase, awaitVolumes } = begin();
      const { kubernetesResources: seconds, snapshots: longer } = grace;
      const { named, gatekeepers: before } = await readKinds();
      await phase("workloads and services", named(seconds, outsideOnly ? services : makers), before);
      await phase("storage", [...named(seconds, claims), ...named(longer, snapshots)], before);
      await awaitVolumes(seconds);
      if (!outsideOnly) await phase("namespaces", named(seconds, namespaces), before);
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
