import { RESTORE_CONTAINER, VERIFY_CONTAINER } from "../../components/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ContainerStatus, KubeClient, Pod } from "../../kube/index.ts";
import { completed } from "../waits/readiness.ts";
import { hasFailed, podsOfJob } from "./jobs.ts";
import { readVerified } from "./reading.ts";
import type { SnapshotStatus } from "./record.ts";

/** What the Job that checks a snapshot says of it: what it holds, that it is damaged, nothing yet, or nothing at all. */
export type Verdict = SnapshotStatus | "damaged" | "pending" | "none";

/** Reads what a Job has found, or that it has to be made anew: its pod could not be started, was ended, or has gone. */
export async function readVerdict(seedClient: KubeClient, job: KubeObject): Promise<Verdict> {
  const found = await readVerified(seedClient, job);
  if (found !== undefined) return found;
  if (!hasFailed(job)) return completed(job).reached ? "none" : "pending";
  return (await podsOfJob(seedClient, job)).some(isOfDamage) ? "damaged" : "none";
}

/**
 * Whether a pod has failed because of the file: a container that reads it has ended by itself, and does not speak of its
 * node or its storage. What a signal has ended, or could not download, says nothing of the file.
 */
export function isOfDamage({ status = {} }: Pick<Pod, "status">): boolean {
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].some(hasRefused);
}

function hasRefused({ name, state }: ContainerStatus): boolean {
  const { exitCode = 0, message = "" } = state?.terminated ?? {};
  return readers.has(name) && exitCode > 0 && exitCode < FIRST_SIGNAL && !ofStorage.test(message);
}

const readers: ReadonlySet<string> = new Set([RESTORE_CONTAINER, VERIFY_CONTAINER]);

/** What Linux says of a full or broken disk and of a volume that is away; etcd's tools end with code 1 then, too. */
const ofStorage =
  /no space left on device|quota exceeded|input\/output error|stale (?:NFS )?file handle|permission denied|read-only file system|cannot allocate memory/i;

/** Exit codes from here on are those of signals: 128 and the signal's number. */
const FIRST_SIGNAL = 128;
