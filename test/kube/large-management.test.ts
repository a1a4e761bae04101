import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { GARDEN_CREDENTIALS_LABEL, ROLE_LABEL } from "../../src/api/labels.ts";
import { CLUSTER_SECRET_TYPE } from "../../src/api/cluster-api/index.ts";
import { Secret, typeMeta } from "../../src/kube/index.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { startSmallProcess } from "../support/small-heap.ts";

/*
 * Who makes Secrets in any one namespace of a management cluster, or in a project of the garden, chooses their labels and types. Process
 * `cluster-api` looks after the Clusters of all.
 */
const namespace = "large-management";
const COUNT = 50;

test("however many large Secrets a user labels as those of Clusters, the process that reads them has room", async ({
  cluster: { client, kubeconfig },
}) => {
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  const data = { kubeconfig: Buffer.alloc(700_000, "x").toString("base64") };
  const kinds = [
    { labels: { [GARDEN_CREDENTIALS_LABEL]: "true" }, type: "Opaque" },
    { labels: { [ROLE_LABEL]: "kubeconfig" }, type: "Opaque" },
    { labels: {}, type: CLUSTER_SECRET_TYPE },
  ];
  for (const [kind, { labels, type }] of kinds.entries())
    for (let index = 0; index < COUNT; index += 1) {
      const metadata = { name: `large-${kind}-${index}`, namespace, labels };
      await client.create<Secret>({ ...typeMeta(Secret), metadata, type, data });
    }
  const folder = await mkdtemp(join(tmpdir(), "perennial-large-management-"));
  await writeFile(join(folder, "kubeconfig"), kubeconfig);
  const env = { KUBECONFIG: join(folder, "kubeconfig") };
  const small = startSmallProcess("small-management-main.ts", env, 96);
  await eventually(() => expect(small.output()).toContain("synced"));
  await delay(1_000);
  expect(small.isRunning(), small.output()).toBe(true);
  small.end();
  await rm(folder, { recursive: true, force: true });
});
