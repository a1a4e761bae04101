import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isReady, rolledOut } from "../../../src/activities/waits/readiness.ts";
import { doubtOtherNodes, isSilent, withoutSilentNodes } from "../../../src/gardenadm/cluster/silent-nodes.ts";
import { createDirectoryClient, type DirectoryClient } from "../../../src/kube/directory/directory-client.ts";
import { DaemonSet, Node, refTo, typeMeta } from "../../../src/kube/index.ts";

let folder: string;
let client: DirectoryClient;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "silent-nodes-"));
  client = createDirectoryClient({ directory: folder });
  for (const name of ["a", "w"]) {
    await client.create<Node>({ ...typeMeta(Node), metadata: { name } });
    await heard(name);
  }
  await client.create<DaemonSet>({ ...typeMeta(DaemonSet), metadata: proxy });
});

afterEach(async () => {
  await client.close();
  await rm(folder, { recursive: true, force: true });
});

const proxy = { namespace: "kube-system", name: "kube-proxy" };

async function heard(name: string): Promise<void> {
  const conditions = [
    { type: "DiskPressure", status: "False" },
    { type: "Ready", status: "True" },
  ];
  await client.patch(refTo(Node, { name }), { status: { conditions } }, { subresource: "status" });
}

/** Whether the DaemonSet has rolled out, whose pods are ready on so many of two nodes. */
async function hasRolledOut(numberReady: number): Promise<boolean> {
  const { metadata } = (await client.read(DaemonSet, proxy)) ?? expect.fail("there is one");
  const status = {
    ...{ observedGeneration: metadata.generation, desiredNumberScheduled: 2 },
    ...{ updatedNumberScheduled: numberReady, numberReady },
  };
  await client.patch(refTo(DaemonSet, proxy), { status }, { subresource: "status" });
  const object = await withoutSilentNodes(client).read({ ...typeMeta(DaemonSet), ...proxy });
  return rolledOut(object ?? expect.fail("there is one")).reached;
}

test("a node of which nothing is heard holds up no roll-out, and one that is heard of does", async () => {
  expect([await hasRolledOut(1), await hasRolledOut(2)]).toEqual([false, true]);
  await doubtOtherNodes(client, "a", new Date());
  expect([await hasRolledOut(0), await hasRolledOut(1)]).toEqual([false, true]);
  await heard("w");
  expect(await hasRolledOut(1)).toBe(false);
});

test("after a restore, all nodes but its own are silent, and keep what else is said of them", async () => {
  await doubtOtherNodes(client, "a", new Date());
  const [a, w] = await client.list(Node);
  expect([a && isReady(a), a && isSilent(a), w && isReady(w), w && isSilent(w)]).toEqual([true, false, false, true]);
  expect(w?.status?.conditions).toContainEqual({ type: "DiskPressure", status: "False" });
});
