import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { playApiServer, type Answer } from "../../support/played-api-server.ts";
import { startSmallProcess } from "../../support/small-heap.ts";

const COUNT = 8;
const DENSE = `[${"[],".repeat(400_000)}[]]`;

/** A cluster with objects of tiny values, each as large as etcd takes one; a page has as many as are asked for. */
const dense: Answer = ({ searchParams }, response) => {
  const first = Number(searchParams.get("continue") ?? 0);
  const end = Math.min(COUNT, first + Number(searchParams.get("limit")));
  const items = Array.from(
    { length: end - first },
    (_, index) => `{"metadata":{"name":"dense-${first + index}","namespace":"default"},"filler":${DENSE}}`,
  );
  const metadata = { resourceVersion: "1", ...(end < COUNT && { continue: String(end) }) };
  response.end(`{"items":[${items.join(",")}],"metadata":${JSON.stringify(metadata)}}`);
};

test("a process of little memory lists objects of tiny values in pages as small as it takes", async () => {
  const served = [{ apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true }];
  const server = await playApiServer(served, dense);
  onTestFinished(server.close);
  const folder = await mkdtemp(join(tmpdir(), "perennial-dense-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "kubeconfig");
  await writeFile(file, server.kubeconfig, { mode: 0o600 });
  const small = startSmallProcess("small-lister-main.ts", { KUBECONFIG: file }, 96);
  onTestFinished(small.end);
  await eventually(() => expect(small.isRunning()).toBe(false), 30_000);
  expect(small.output()).toContain(`read ${COUNT}`);
});
