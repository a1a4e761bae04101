import { backupMount } from "./backup-place.ts";
import type { Step } from "./backup-pod.ts";
import type { ControlPlaneContext } from "../context.ts";

/** The container whose log says, as JSON, what a snapshot holds: `{hash, revision, totalKey, totalSize}`. */
export const VERIFY_CONTAINER = "verify";

/** A step in etcd's own image, in which there is no shell. */
export const etcdStep = (
  { images }: ControlPlaneContext,
  name: string,
  command: readonly string[],
  volumeMounts: readonly object[],
): Step => ({ name, image: images.etcd, command, volumeMounts });

/** Reads a snapshot in the folder; fails when it is not whole. */
export const verifyStep = (context: ControlPlaneContext, snapshot: string): Step =>
  etcdStep(
    context,
    VERIFY_CONTAINER,
    ["etcdutl", "snapshot", "status", `/backup/${snapshot}`, "--write-out=json"],
    [backupMount({ readOnly: true })],
  );
