import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { completed } from "../../src/activities/waits/readiness.ts";
import { EPOCH_ANNOTATION } from "../../src/api/annotations.ts";
import { Seed } from "../../src/api/index.ts";
import { CronJob, Job, Pod } from "../../src/kube/index.ts";
import { eventually } from "./eventually.ts";
import type { TestShoot } from "./e2e-shoots.ts";
import type { LocalEnvironment, SeedName } from "./local-environment.ts";

/** What a seed leaves in its bucket that nothing has recorded: names of files. */
export interface Unrecorded {
  readonly good: string;
  /** Newer, and short of its last bytes. */
  readonly damaged: string;
}

/**
 * Has the schedule take a snapshot of the Shoot's etcd in this seed, as its controller would do in a minute, and puts a
 * damaged file behind it. Whether anything records it is for the caller to see to.
 */
export async function leaveUnrecorded(local: LocalEnvironment, shoot: TestShoot, seed: SeedName): Promise<Unrecorded> {
  const client = local.seeds[seed];
  const { technicalID: namespace, ref } = shoot;
  const schedule = await client.read(CronJob, { namespace, name: "etcd-backup" });
  if (schedule === undefined) throw new Error(`there is no schedule in ${namespace}`);
  const { metadata, spec } = schedule.spec.jobTemplate;
  const minute = Math.floor(Date.now() / 60_000) + 1;
  const name = `etcd-backup-${minute}`;
  const annotations = { [EPOCH_ANNOTATION]: schedule.metadata.annotations?.[EPOCH_ANNOTATION] ?? "" };
  await client.create({
    ...{ apiVersion: "batch/v1", kind: "Job" },
    metadata: { ...metadata, name, namespace, annotations },
    spec,
  });
  await eventually(async () => {
    const job = await client.read(Job, { namespace, name });
    if (job === undefined || !completed(job).reached) throw new Error(`Job ${name} has not finished`);
  }, 60_000);
  const pods = await client.list(Pod, { namespace, labelSelector: `job-name=${name}` });
  const good = `${pods[0]?.metadata.name}.db`;
  const damaged = `etcd-backup-${minute + 1}-zzzzz.db`;
  const bucket = (await local.gardenClient.read(Seed, { name: seed }))?.metadata.uid ?? "";
  const folder = join(local.environment.stateDir, "buckets", bucket, `${namespace}--${ref.uid}`);
  const content = await readFile(join(folder, good));
  await writeFile(join(folder, damaged), content.subarray(0, -40));
  return { good, damaged };
}
