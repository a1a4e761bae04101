import { statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Candidate, Findings } from "./candidate.ts";
import { judgeDisk, measureSyncs } from "./sync-time.ts";

const FOLDER = "/var/lib";

/** In bytes, to begin with: images of the control plane take about half of it, etcd's log and snapshots the rest. */
const LEAST_SPACE = 2 * 1024 ** 3;

/** Why etcd could not keep its data here: no room, or a disk that keeps it waiting. */
export async function diskFindings({ root, diskSpace }: Pick<Candidate, "root" | "diskSpace">): Promise<Findings> {
  try {
    const space = diskSpace ?? (await spaceIn(join(root, FOLDER)));
    // A full disk could not be measured, either.
    if (space < LEAST_SPACE) return { faults: [spaceFault(space)], warnings: [] };
    return await judgeDisk(() => measureSyncs(join(root, FOLDER)), FOLDER);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return {
      faults: [`etcd could not write to ${FOLDER}: ${why}: mount a disk there that can be written`],
      warnings: [],
    };
  }
}

async function spaceIn(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function spaceFault(space: number): string {
  return `${FOLDER} has ${Math.floor(space / 1024 ** 2)} MiB of free space: make room, at least ${LEAST_SPACE / 1024 ** 2} MiB`;
}
