import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { SNAPSHOT_LABEL } from "../../src/api/labels.ts";
import { components, SCHEDULE } from "../../src/components/index.ts";
import { CronJob, Job, Namespace, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import type { Child } from "../support/child.ts";
import { test } from "../support/cluster-test.ts";
import { exampleContext } from "../support/control-plane-context.ts";
import { eventually } from "../support/eventually.ts";
import { startKubernetesController } from "../support/kubernetes-controller.ts";
import { seconds } from "../support/patience.ts";

// Kubernetes' own controller of CronJobs acts on the schedule that the flow deploys. No Job is made here.

const context = exampleContext({ snapshotMinutes: 1 });
const { namespace } = context;
let client: KubeClient;
let directory: string;
let controller: Child;

test.beforeAll(async ({ cluster }) => {
  client = cluster.client;
  directory = await mkdtemp(join(tmpdir(), "perennial-cronjobs-"));
  controller = await startKubernetesController(cluster, directory, "cronjob-controller");
  await client.apply({ ...typeMeta(Namespace), metadata: { name: namespace } });
});

afterAll(async () => {
  await controller.kill();
  await rm(directory, { recursive: true, force: true });
});

test(
  "etcd is saved by the schedule itself, from minute to minute where that is asked for",
  { timeout: seconds(150) },
  async () => {
    for (const object of components["etcd-backup"].objects(context)) await client.apply(object);
    const { uid } = (await client.read(CronJob, { namespace, name: SCHEDULE }))?.metadata ?? expect.fail("no schedule");
    const [job] = await eventually(async () => {
      const jobs = await client.list(Job, { namespace });
      expect(jobs).not.toEqual([]);
      return jobs;
    }, seconds(90));
    expect(job?.metadata).toMatchObject({
      labels: { [SNAPSHOT_LABEL]: "scheduled" },
      ownerReferences: [{ kind: "CronJob", name: SCHEDULE, uid }],
    });
  },
);
