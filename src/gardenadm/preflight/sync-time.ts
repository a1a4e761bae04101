import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DISK_TRIAL } from "../machine/places.ts";
import type { Findings } from "./candidate.ts";

/** About an entry of etcd's write-ahead log, in bytes. */
const BLOCK = Buffer.alloc(2300, 0x2e);

/** How often, and for how long, a disk is tried; the first that is reached ends it. */
interface Trial {
  readonly writes: number;
  readonly milliseconds: number;
}

const TRIAL: Trial = { writes: 50, milliseconds: 2000 };

/**
 * How long a disk takes for each of some small writes, in ms, until they are on it, as etcd's log writes them. The file for it is gone
 * afterwards, also when a write fails.
 */
export async function measureSyncs(folder: string, trial = TRIAL): Promise<number[]> {
  const path = join(folder, DISK_TRIAL);
  const file = await open(path, "w", 0o600);
  try {
    const times: number[] = [];
    const end = performance.now() + trial.milliseconds;
    for (let before = performance.now(); times.length < trial.writes && before < end; before = performance.now()) {
      await file.write(BLOCK);
      await file.datasync();
      times.push(performance.now() - before);
    }
    return times;
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

/** How often a disk is tried that is too slow, and how long it is left alone in between, in ms. */
interface Retries {
  readonly trials: number;
  readonly pause: number;
}

const RETRIES: Retries = { trials: 5, pause: 2_000 };

/**
 * Judges a disk by the first trial in which it is not too slow for etcd. Only one that is too slow each time is refused: what others write
 * at once, such as images that are being unpacked, holds a disk up for seconds, in which a trial has two writes or three.
 */
export async function judgeDisk(
  measure: () => Promise<readonly number[]>,
  folder: string,
  { trials, pause } = RETRIES,
): Promise<Findings> {
  for (let trial = 1; ; trial += 1) {
    const findings = judgeSyncs(await measure(), folder);
    if (findings.faults.length === 0 || trial === trials) return findings;
    await sleep(pause);
  }
}

/** In ms. A leader that waits for its disk longer than a second loses the lead: it writes what it says to others first. */
const LIMITS = { fault: 500, warning: 50 } as const;

/**
 * What these times mean for etcd. Its own guidance (the 99th percentile below 10 ms) is for a disk that does nothing else; here the
 * median counts, which no single hiccup of a busy machine moves.
 */
export function judgeSyncs(times: readonly number[], folder: string): Findings {
  const median = times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0;
  const sentence = `${folder} takes ${Math.round(median)} ms for a small write to be on the disk`;
  const remedy = "mount a disk there that others do not keep busy, best an SSD";
  if (median > LIMITS.fault)
    return { faults: [`${sentence}, and etcd would lose its leader over that: ${remedy}`], warnings: [] };
  if (median > LIMITS.warning)
    return { faults: [], warnings: [`${sentence}, and the API server will be slow (etcd asks for 10 ms): ${remedy}`] };
  return { faults: [], warnings: [] };
}
