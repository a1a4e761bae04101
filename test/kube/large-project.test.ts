import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { CredentialsBinding } from "../../src/api/index.ts";
import { Secret, typeMeta } from "../../src/kube/index.ts";
import { ownClusterTest } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { startSmallProcess } from "../support/small-heap.ts";

/*
 * Users of a project make as many bindings in it as they like, each with 256 KiB of annotations, and the manager, without which nothing is
 * admitted in the garden, reads them for all.
 */
// It fills etcd with a hundred megabytes.
const test = ownClusterTest({ crds: true });
const namespace = "garden-large";
const COUNT = 400;

test("however large a project's bindings are, the manager has room for them", async ({
  cluster: { client, kubeconfig },
}) => {
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await client.create<Secret>({ ...typeMeta(Secret), metadata: { name: "account", namespace }, data: {} });
  const annotations = { large: "x".repeat(250_000) };
  for (let index = 0; index < COUNT; index += 1)
    await client.create<CredentialsBinding>({
      ...typeMeta(CredentialsBinding),
      metadata: { name: `large-${index}`, namespace, annotations },
      provider: { type: "local" },
      credentialsRef: { apiVersion: "v1", kind: "Secret", name: "account", namespace },
    });
  const folder = await mkdtemp(join(tmpdir(), "perennial-large-project-"));
  await writeFile(join(folder, "kubeconfig"), kubeconfig);
  const small = startSmallProcess("small-manager-main.ts", { KUBECONFIG: join(folder, "kubeconfig") }, 128);
  await eventually(() => expect(small.output()).toContain("synced"));
  await delay(5_000); // it gives each binding its finalizer
  expect(small.isRunning(), small.output()).toBe(true);
  small.end();
  await rm(folder, { recursive: true, force: true });
});
