import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CloudProfile, Shoot } from "../../../src/api/index.ts";
import { CONTROL_PLANE_LABEL } from "../../../src/api/labels.ts";
import { clusterObject } from "../../../src/components/index.ts";
import { readControlPlane } from "../../../src/gardenadm/cluster/control-plane.ts";
import { createResetActions } from "../../../src/gardenadm/reset/actions.ts";
import { refOf, type KubeClient } from "../../../src/kube/index.ts";
import { createDirectoryClient } from "../../../src/kube/directory/directory-client.ts";
import { exampleConfiguration } from "../../support/configuration.ts";

let root: string;
let client: KubeClient;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "leaving-"));
  client = createDirectoryClient({ directory: join(root, "cluster") });
  const [shoot, , cloudProfile] = exampleConfiguration();
  const made = { shoot: Shoot.parse(shoot), cloudProfile: CloudProfile.parse(cloudProfile) };
  await client.apply(clusterObject(await readControlPlane(client, made, { hostName: "a", addresses: [A] }, "uid")));
  await nodeAt("a", A);
});

afterEach(async () => {
  await client.close();
  await rm(root, { recursive: true, force: true });
});

const [A, B, C] = ["10.0.0.1", "10.0.0.2", "10.0.0.3"] as const;

async function nodeAt(
  name: string,
  address: string,
  labels: Readonly<Record<string, string>> = { [CONTROL_PLANE_LABEL]: "" },
): Promise<void> {
  const node = { apiVersion: "v1", kind: "Node", metadata: { name, labels } };
  await client.create(node);
  const status = { addresses: [{ type: "InternalIP", address }] };
  await client.patch(refOf(node), { status }, { subresource: "status" });
}

const started = (id: number, name: string, address: string) => ({
  ...{ ID: id, name, peerURLs: [`https://${address}:2380`], clientURLs: [`https://${address}:2379`] },
});
const learner = { ID: 2, peerURLs: [`https://${B}:2380`], isLearner: true };

/** An etcdctl that knows these members until one is removed, which it notes. */
async function etcdKnows(...members: readonly object[]): Promise<void> {
  const list = join(root, "members");
  await mkdir(join(root, "opt/bin"), { recursive: true });
  await writeFile(list, JSON.stringify({ members }));
  const script = `#!/bin/sh
case "$*" in *"member remove"*) echo "$*" >>${root}/removed; sed 's/{"ID":2[^}]*},*//' -i ${list} ;; esac
case "$*" in *"endpoint status"*) echo "Error: no answer" >&2; exit 1 ;; esac
cat ${list}
`;
  await writeFile(join(root, "opt/bin/etcdctl"), script, { mode: 0o755 });
}

const removed = async () =>
  [...(await readFile(join(root, "removed"), "utf8").catch(() => "")).matchAll(/member remove (\w+)/g)].map(
    ([, id]) => id,
  );

/** Takes a node's members out, on a's machine or, without any address of another's, on its own. */
async function reset(
  node: string,
  { machineIsGone }: { readonly machineIsGone: boolean },
  own: string = B,
): Promise<void> {
  const machine = { root, hostName: machineIsGone ? "a" : node, addresses: [machineIsGone ? A : own] } as never;
  const run = { isControlPlane: true, isHere: !machineIsGone, clusterGoesOn: true };
  const { actions } = createResetActions({ machine, node, client, run, machineIsGone });
  const scope = { signal: new AbortController().signal, tell: () => {} };
  await actions.safety(scope);
  await actions.members(scope);
}

test("the learner of a node goes with it, though it has never started, and so has no name", async () => {
  await nodeAt("b", B);
  await etcdKnows(learner, started(1, "a", A));
  await reset("b", { machineIsGone: true });
  expect(await removed()).toEqual(["2"]);
});

test("a machine that has another address now takes the learner at the address that its Node has", async () => {
  await nodeAt("c", B);
  await etcdKnows(learner, started(1, "a", A));
  await reset("c", { machineIsGone: false }, C);
  expect(await removed()).toEqual(["2"]);
});

test("a machine that is reset takes its learner with it, though the cluster has no Node of it", async () => {
  await etcdKnows(learner, started(1, "a", A));
  await reset("b", { machineIsGone: false });
  expect(await removed()).toEqual(["2"]);
});

test("with a machine that is gone, of which there is no Node, the learner goes that is at no node's address", async () => {
  await etcdKnows(learner, started(1, "a", A));
  await reset("b", { machineIsGone: true });
  expect(await removed()).toEqual(["2"]);
});

test("a learner at another node's address stays, whatever machine is gone", async () => {
  await nodeAt("b", B);
  await nodeAt("c", C);
  await etcdKnows(learner, started(1, "a", A));
  await reset("c", { machineIsGone: true });
  await reset("d", { machineIsGone: true });
  expect(await removed()).toEqual([]);
});

test("a worker that claims to be at the address of a learner does not keep it in", async () => {
  await nodeAt("c", B);
  await nodeAt("w", B, {});
  await etcdKnows(learner, started(1, "a", A));
  await reset("c", { machineIsGone: true });
  expect(await removed()).toEqual(["2"]);
});
