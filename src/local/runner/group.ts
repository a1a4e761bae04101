import { createLeaf, removeCgroup, signalCgroup } from "../machine/cgroup.ts";
import type { ProcessGroup } from "../machine/unit-process.ts";

/** The cgroup of a unit, as systemd would name it; it is made when it is not there. */
export async function unitGroup(unit: string): Promise<ProcessGroup> {
  const group = `/system.slice/${unit}`;
  const files = await createLeaf(group);
  return {
    wrap: (words) => ["/bin/sh", "-c", JOIN, "join", ...files, "--", ...words],
    terminate: async () => await signalCgroup(group, "SIGTERM"),
    end: async () => {
      await removeCgroup(group);
      await createLeaf(group);
    },
  };
}

/** Ends all that runs in a slice, which is a cgroup with this name, as systemd or as a container runtime writes it. */
export async function endSlice(slice: string): Promise<void> {
  const parts = slice.replace(/\.slice$/, "").split("-");
  for (const group of [slice, parts.join("/")]) {
    await signalCgroup(`/${group}`, "SIGTERM");
    await removeCgroup(`/${group}`);
  }
}

/** Becomes the command in the group. */
const JOIN = 'while [ "$1" != -- ]; do echo 0 > "$1"; shift; done; shift; exec "$@"';
