import { constants } from "node:fs";
import { cp, mkdir, rm } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Run } from "../node-agent/commands.ts";
import { commitLog } from "./commit-log.ts";
import { logOf, refuseRunning } from "./in-use.ts";
import type { DataPlace } from "./place.ts";
import { isCutOff, takePlace, type Replaced } from "./replace.ts";
import { restoreData, type Restoration } from "./restore-data.ts";
import type { Serve } from "./serve.ts";

/** etcd's programs, of the version that the data are of. */
export interface EtcdPrograms {
  readonly etcd: Serve;
  readonly etcdctl: Run;
  readonly etcdutl: Run;
}

/**
 * Makes a new cluster with one member out of a survivor's own data, whose etcd is stopped; see {@link replaceData} for what a kill
 * leaves, with which it goes on. Nothing is lost that this member had: its database alone would lack what is in its log only, so an
 * etcd with `--force-new-cluster` takes up its whole log first, on a copy that no network reaches. What others had and it had not is
 * lost: revisions go on beyond it. It is a new cluster because the lost members may come back, and must not take this one for theirs.
 */
export async function restoreFromMember(
  programs: EtcdPrograms,
  restoration: Omit<Restoration, "snapshot">,
): Promise<Replaced> {
  const { place, signal } = restoration;
  await refuseRunning(place.dataDir);
  const work = `${place.dataDir}.survivor`;
  await rm(work, { recursive: true, force: true });
  if (await isCutOff(place, ORIGIN)) {
    await takePlace(place, ORIGIN);
    return {};
  }
  try {
    await mkdir(work, { recursive: true, mode: 0o700 });
    await cp(place.dataDir, `${work}/data`, { recursive: true, mode: constants.COPYFILE_FICLONE });
    await commitLog(logOf(`${work}/data`));
    await saveWhole(programs, work, signal);
    return await restoreData(programs, { ...restoration, origin: ORIGIN, snapshot: `${work}/${SNAPSHOT}` });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Whether it was killed when the old data had gone and the new ones had not got their name: called again, it gives them that. */
export const isSurvivalCutOff = async (place: DataPlace): Promise<boolean> => await isCutOff(place, ORIGIN);

const ORIGIN = "survivor";

/** Its file is relative to the folder that it runs in; etcd wants something that looks like a port. */
const SOCKET = "client:1";
const SNAPSHOT = "snapshot.db";

/** The snapshot of an etcd that has taken up all of its log. */
async function saveWhole({ etcd, etcdctl }: EtcdPrograms, work: string, signal?: AbortSignal): Promise<void> {
  const socket = `unix://${SOCKET}`;
  const served = etcd(
    [
      ...["--data-dir=data", "--force-new-cluster", `--listen-client-urls=${socket}`],
      ...[`--advertise-client-urls=${socket}`, "--listen-peer-urls=unix://peer:1"],
    ],
    work,
  );
  const endpoint = `--endpoints=unix://${work}/${SOCKET}`;
  try {
    await Promise.race([untilHealthy(etcdctl, endpoint, signal), served.ended]);
    await Promise.race([etcdctl(["snapshot", "save", `${work}/${SNAPSHOT}`, endpoint], signal), served.ended]);
  } catch (error) {
    signal?.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`cannot take up the log of the member in ${work}: ${why}`, { cause: error });
  } finally {
    await served.stop();
  }
}

/** A question that takes agreement is answered once the whole log is taken up. In ms. */
const LONGEST_START = 120_000;

async function untilHealthy(etcdctl: Run, endpoint: string, signal?: AbortSignal): Promise<void> {
  for (const deadline = Date.now() + LONGEST_START; ; await delay(100, undefined, { signal })) {
    const answer = await etcdctl(["get", "health", "--command-timeout=2s", endpoint], signal).catch(
      (error: unknown) => error,
    );
    if (!(answer instanceof Error)) return;
    signal?.throwIfAborted();
    if (Date.now() > deadline) throw answer;
  }
}
