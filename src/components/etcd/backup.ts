import { SNAPSHOT_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/index.ts";
import { objectStoreProviders } from "../../api/object-stores.ts";
import { clientFiles, clientFlags } from "./client.ts";
import { snapshotPeriod } from "./backup-period.ts";
import { bundleSteps, bundleVolumes } from "./backup-bundle.ts";
import { backupMount, backupPlace, backupSettings, storeOf } from "./backup-place.ts";
import { job, pod, type Step } from "./backup-pod.ts";
import { commandLine, subcommand, type Flags } from "../command-line.ts";
import type { ControlPlaneContext } from "../context.ts";
import { etcdStep, restoreStep, verifyStep } from "./step.ts";
import { mainClaim, member } from "./etcd.ts";
import { rclone } from "./rclone.ts";
import { dataVolume } from "./settings.ts";
import { controlPlaneRole, onControlPlaneNodes } from "../workload.ts";

/**
 * Snapshots of etcd-main, every ten minutes unless it is said otherwise. The minute depends on the Shoot, so that a
 * seed's etcds take turns. Each pod writes a file of its own, which etcdctl renames once it is whole: what has a name
 * in the bucket is a snapshot. Nothing where nodes carry the control plane and no backup is asked for.
 */
export function etcdBackup(context: ControlPlaneContext): KubeObject[] {
  if (context.nodes !== undefined && backupSettings(context) === undefined) return [];
  const { namespace, shoot } = context;
  const { minute, period } = snapshotPeriod(context);
  return [
    {
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata: { name: SCHEDULE, namespace, labels: controlPlaneRole },
      spec: {
        schedule: `${minute}-59/${period} * * * *`,
        suspend: shoot.spec.hibernation?.enabled === true,
        concurrencyPolicy: "Forbid",
        startingDeadlineSeconds: 300,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
        jobTemplate: {
          metadata: { labels: { ...controlPlaneRole, [SNAPSHOT_LABEL]: "scheduled" } },
          spec: {
            backoffLimit: 2,
            activeDeadlineSeconds: 3600,
            podReplacementPolicy: "Failed",
            template: snapshotPod(context, backupPlace(context).tidy()),
          },
        },
      },
    },
  ];
}

/** Takes one snapshot now: `<pod>.db` in the Shoot's backups, verified by the same pod. Old ones are left to the schedule. */
export function snapshotJob(context: ControlPlaneContext, name: string): KubeObject {
  return job(context, name, { backoffLimit: 2, template: snapshotPod(context) }, { [SNAPSHOT_LABEL]: "requested" });
}

/** What etcd-main's volume is made from. */
export interface RestoreSource {
  /** The snapshot's file in the Shoot's backups. */
  readonly snapshot: string;
  /**
   * Revisions beyond the snapshot's were seen by clients and are lost: new ones begin where no client has been, and
   * every watch from before starts over.
   */
  readonly bump: boolean;
}

/**
 * Makes the data directory that etcd-main starts from. The snapshot's own checksum is verified on the way, and beside it
 * is read what the snapshot holds: API servers wait for both. A directory that is there already is never touched: a Job
 * that failed half-way needs a new volume.
 */
export function restoreJob(context: ControlPlaneContext, name: string, { snapshot, bump }: RestoreSource): KubeObject {
  const restored = restoreStep(context, snapshot, { flags: restoreFlags(context, bump), volume });
  return restoring(context, name, { snapshot, restored });
}

/**
 * Makes data of a snapshot in a folder of its own on etcd-main's volume, beside what is there: the uid of the Job and the name of its pod tell
 * which. Nothing else on the volume changes, but for what Jobs before it have left half done, which have `failed`, by uid: their folders go,
 * and no others, since this Job may be made late, when etcd runs with data of a later one. A first attempt needs no image for that.
 */
export function repairJob(
  context: ControlPlaneContext,
  name: string,
  { snapshot, failed }: { readonly snapshot: string; readonly failed: readonly string[] },
): KubeObject {
  const directory = `${dataVolume.mountPath}/${restoredDirectory("$(JOB_UID)", "$(POD_NAME)")}`;
  const step = restoreStep(context, snapshot, { flags: restoreFlags(context, true), volume, directory });
  const before = failed.length > 0 ? [clearStep(context, failed)] : [];
  return restoring(context, name, { before, snapshot, restored: { ...step, env: [JOB_UID, POD_NAME] } });
}

/** A Job that fetches a snapshot after the steps `before`, makes data of it by the step `restored`, and reads beside that what it holds. */
function restoring(
  context: ControlPlaneContext,
  name: string,
  {
    before = [],
    snapshot,
    restored,
  }: { readonly before?: readonly Step[]; readonly snapshot: string; readonly restored: Step },
): KubeObject {
  const place = backupPlace(context);
  const template = pod(
    [place.volume({ readOnly: true }), { name: volume, persistentVolumeClaim: { claimName: mainClaim.name } }],
    [...before, ...place.fetch(snapshot), restored],
    [verifyStep(context, snapshot)],
  );
  return job(context, name, { backoffLimit: 0, template });
}

/** The name of etcd-main's volume in the pods that fill it. */
const volume = "data";

/** The folder into which the pod of this name restores, which is of the Job with this uid. */
export const restoredDirectory = (jobUid: string, podName: string): string => `restored-${jobUid}-${podName}`;

function clearStep({ images }: ControlPlaneContext, failed: readonly string[]): Step {
  const filters = [...failed.map((uid) => `+ /${restoredDirectory(uid, "*")}/**`), "- *"];
  const flags = filters.map((filter) => `--filter=${filter}`);
  const command = rclone(["delete", dataVolume.mountPath, ...flags], { rmdirs: true });
  return {
    name: "clear",
    image: images.rclone,
    command,
    volumeMounts: [{ name: volume, mountPath: dataVolume.mountPath }],
  };
}

function restoreFlags({ namespace }: ControlPlaneContext, bump: boolean): Flags {
  const { peer, ...self } = member("etcd-main", namespace);
  return {
    name: self.name,
    "initial-cluster": `${self.name}=${peer}`,
    "initial-cluster-token": self.token,
    "initial-advertise-peer-urls": peer,
    ...(bump ? { "bump-revision": LOST_REVISIONS, "mark-compacted": true } : {}),
  };
}

const JOB_UID = {
  name: "JOB_UID",
  valueFrom: { fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/controller-uid']" } },
};

const POD_NAME = { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } };

/** etcd-main's claim as its StatefulSet would make it, so that the volume can be filled before there is one. */
export function mainVolumeClaim({ namespace }: ControlPlaneContext): KubeObject {
  const { name, labels, spec } = mainClaim;
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { name, namespace, labels }, spec };
}

/** The CronJob that takes snapshots; Kubernetes names its Jobs `<name>-<minutes since 1970>`, and pods with five letters more. */
export const SCHEDULE = "etcd-backup";

/** More revisions than an etcd can have gone through since its last snapshot. */
export const LOST_REVISIONS = 1_000_000_000;

/**
 * Saves, brings to its place and reads: what the step that verifies has said is true of what others will find there. On nodes,
 * where nothing is recorded of a snapshot, it is read first, and its bundle is there before it.
 */
function snapshotPod(context: ControlPlaneContext, afterwards: readonly Step[] = []) {
  const { nodes } = context;
  if (nodes !== undefined) requireStore(context);
  const place = backupPlace(context);
  const client = clientFiles(context);
  const snapshot = "$(POD_NAME).db"; // the kubelet fills it in: there is no shell in the image
  const save = commandLine("etcdctl", clientFlags("main", context));
  const env = [POD_NAME];
  const mounts = [backupMount(), ...client.volumeMounts];
  const taken = {
    ...etcdStep(context, "save", subcommand(save, "snapshot", "save", `/backup/${snapshot}`), mounts),
    env,
  };
  const verified = { ...verifyStep(context, snapshot), env };
  const volumes = [place.volume(), ...client.volumes];
  if (nodes === undefined) return pod(volumes, [taken, ...place.keep(snapshot, env), verified, ...afterwards]);
  const kept = [...bundleSteps(context, { place, snapshot, env }), ...place.keep(snapshot, env)];
  return onControlPlaneNodes(pod([...volumes, ...bundleVolumes], [taken, verified, ...kept, ...afterwards]));
}

/** No node has a claim that others would find when it is lost. */
function requireStore(context: ControlPlaneContext): void {
  if (storeOf(context) !== undefined) return;
  const provider = backupSettings(context)?.provider ?? "none";
  throw new Error(
    `cannot back up the etcd of Shoot ${context.shoot.metadata.name}: its backup.provider ${provider} is no object store; write ${objectStoreProviders.join(", ")}`,
  );
}
