import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CONTROL_PLANE_LABEL } from "../../../src/api/labels.ts";
import { claimNodeName } from "../../../src/gardenadm/cluster/node-name.ts";
import { removeNodeObjects } from "../../../src/gardenadm/cluster/node-objects.ts";
import { createDirectoryClient, type DirectoryClient } from "../../../src/kube/directory/directory-client.ts";
import { Lease, Node, refTo, typeMeta } from "../../../src/kube/index.ts";

let folder: string;
let client: DirectoryClient;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "node-name-"));
  client = createDirectoryClient({ directory: folder });
});

afterEach(async () => {
  await client.close();
  await rm(folder, { recursive: true, force: true });
});

const claim = async (role: "worker" | "control-plane") => await claimNodeName(client, { node: "b", role });

test("a name that a worker's token has had is no control-plane node's, also after a reset of that node", async () => {
  expect(await claim("worker")).toBeUndefined();
  const refusal = /^b was given to a node for role worker, whose certificate may still be in use, and cannot be/;
  expect(await claim("control-plane")).toMatch(refusal);
  await client.create<Node>({ ...typeMeta(Node), metadata: { name: "b" } });
  expect(await claim("control-plane")).toMatch(/cannot be one for role control-plane before it has left the cluster/);
  await removeNodeObjects(client, "b");
  expect(await client.list(Node)).toEqual([]);
  expect(await claim("control-plane")).toMatch(refusal);
  expect(await claim("worker")).toBeUndefined();
  await client.remove(refTo(Lease, { namespace: "kube-system", name: "gardener-node-agent-b" }));
  expect(await claim("control-plane")).toBeUndefined();
});

test("the name of a control-plane node that has left is free", async () => {
  expect(await claim("control-plane")).toBeUndefined();
  const labels = { [CONTROL_PLANE_LABEL]: "" };
  await client.create<Node>({ ...typeMeta(Node), metadata: { name: "b", labels } });
  await removeNodeObjects(client, "b");
  expect(await claim("worker")).toBeUndefined();
});
