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

/**
 * Reads what a snapshot in the folder holds. It fails where that cannot be read; a file that lacks its last bytes only, or of
 * which bytes were changed, is told by what was recorded of it, and by the sum that restoring checks.
 */
export const verifyStep = (context: ControlPlaneContext, snapshot: string): Step =>
  etcdStep(
    context,
    VERIFY_CONTAINER,
    ["etcdutl", "snapshot", "status", `/backup/${snapshot}`, "--write-out=json"],
    [backupMount({ readOnly: true })],
  );
