import { backupMount } from "./backup-place.ts";
import type { Step } from "./backup-pod.ts";
import { commandLine, subcommand, type Flags } from "../command-line.ts";
import type { ControlPlaneContext } from "../context.ts";
import { dataVolume } from "./settings.ts";

/** The container whose log says, as JSON, what a snapshot holds: `{hash, revision, totalKey, totalSize}`. */
export const VERIFY_CONTAINER = "verify";

/** The container that makes a data directory of a snapshot, and sums up the whole file on the way. */
export const RESTORE_CONTAINER = "restore";

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

/**
 * Makes a data directory, in the usual folder unless it is said, from a snapshot in the folder. It fails where a single byte of the file is not what etcd has
 * written.
 */
export const restoreStep = (
  context: ControlPlaneContext,
  snapshot: string,
  {
    flags = {},
    volume,
    directory = dataVolume.directory,
  }: { readonly flags?: Flags; readonly volume: string; readonly directory?: string },
): Step => {
  const restore = commandLine("etcdutl", { "data-dir": directory, ...flags });
  const command = subcommand(restore, "snapshot", "restore", `/backup/${snapshot}`);
  const mounts = [backupMount({ readOnly: true }), { name: volume, mountPath: dataVolume.mountPath }];
  return etcdStep(context, RESTORE_CONTAINER, command, mounts);
};
