import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import { createKubeClient, Node } from "../../src/kube/index.ts";
import { createProcesses } from "../../src/local/process/processes.ts";
import { localEnvironment, type LocalEnvironment } from "../support/local-environment.ts";

let local: LocalEnvironment;

beforeAll(async () => void (local = await localEnvironment()));
afterAll(async () => await local?.close());

/** Everything else that runs here therefore shows that the roles of deploy/ are enough. */
test.each([
  ["manager", "GARDEN", "perennial", "manager"],
  ["worker-garden", "GARDEN", "perennial", "worker-garden"],
  ["worker-seed-1", "GARDEN", "perennial-seeds", "seed-1"],
  ["worker-seed-1", "SEED", "perennial", "worker-seed"],
  ["worker-seed-2", "GARDEN", "perennial-seeds", "seed-2"],
  ["worker-seed-2", "SEED", "perennial", "worker-seed"],
])("%s has in the cluster of its %s kubeconfig the rights of service account %s/%s and no others", async (...row) => {
  const [process, cluster, namespace, account] = row;
  const client = createKubeClient({ file: await settingOf(process, `PERENNIAL_${cluster}_KUBECONFIG`) });
  try {
    const review = await client.create<Review>(selfSubjectReview);
    expect(review.status.userInfo.username).toBe(`system:serviceaccount:${namespace}:${account}`);
    const nodes = client.list(Node);
    await expect(nodes).rejects.toMatchObject({ status: 403 });
  } finally {
    await client.close();
  }
});

interface Review extends KubeObject {
  readonly status: { readonly userInfo: { readonly username: string } };
}

const selfSubjectReview = {
  apiVersion: "authentication.k8s.io/v1",
  kind: "SelfSubjectReview",
  metadata: { name: "" },
} as unknown as Review;

/** What a running process was started with. */
async function settingOf(name: string, variable: string): Promise<string> {
  const running = (await createProcesses(local.environment, local.log).list()).find((one) => one.name === name);
  const environment = await readFile(`/proc/${running?.pid ?? 0}/environ`, "utf8");
  const setting = environment.split("\0").find((line) => line.startsWith(`${variable}=`));
  if (setting === undefined) throw new Error(`process ${name} was started without ${variable}`);
  return setting.slice(variable.length + 1);
}
