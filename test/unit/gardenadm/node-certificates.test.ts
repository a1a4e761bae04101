import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { certificatesOf } from "../../../src/activities/secrets/plan.ts";
import { CONTROL_PLANE_LABEL } from "../../../src/api/labels.ts";
import type { ThisMachine } from "../../../src/gardenadm/machine/this-machine.ts";
import { createResetActions } from "../../../src/gardenadm/reset/actions.ts";
import { removeLostNodes } from "../../../src/gardenadm/restore/stale.ts";
import { createDirectoryClient, type DirectoryClient } from "../../../src/kube/directory/directory-client.ts";
import { ConfigMap, Node, Secret, typeMeta } from "../../../src/kube/index.ts";
import { selfHostedContext } from "../../support/self-hosted-control-plane.ts";

const NAMESPACE = "kube-system";
/** Those of a node whose name ends as the lost one's does, of a Helm release that ends so, too, and of an operator. */
const KEPT = ["etcd-server.x.v1", "kubelet.x.v1", "sh.helm.release.v1.foo.v1", "mine.v1"];
const KEPT_SETTINGS = "etcd-main-config.x.v1";

let folder: string;
let client: DirectoryClient;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "node-certificates-"));
  client = createDirectoryClient({ directory: folder });
  const own = certificatesOf(selfHostedContext(["v1"])).filter(({ name }) => name.endsWith(".v1"));
  expect(own.length).toBeGreaterThan(0);
  for (const name of [...own.map((plan) => plan.name), ...KEPT])
    await client.create<Secret>({ ...typeMeta(Secret), type: "Opaque", metadata: { namespace: NAMESPACE, name } });
  for (const name of ["etcd-main-config.v1", "etcd-events-config.v1", KEPT_SETTINGS])
    await client.create<ConfigMap>({ ...typeMeta(ConfigMap), metadata: { namespace: NAMESPACE, name } });
  for (const name of ["v1", "x.v1"])
    await client.create<Node>({ ...typeMeta(Node), metadata: { name, labels: { [CONTROL_PLANE_LABEL]: "" } } });
});

afterEach(async () => {
  await client.close();
  await rm(folder, { recursive: true, force: true });
});

const left = async () => {
  const [secrets, settings] = [await client.list(Secret), await client.list(ConfigMap)];
  return [secrets, settings, await client.list(Node)].map((objects) =>
    objects.map(({ metadata }) => metadata.name).toSorted(),
  );
};

test("with a node that is reset, its own certificates and settings go, and no others", async () => {
  const run = { isControlPlane: true, isHere: false, clusterGoesOn: true };
  const machine = { root: folder, hostName: "x.v1" } as ThisMachine;
  const { actions } = createResetActions({ machine, node: "v1", client, run, machineIsGone: true });
  await actions.node({ signal: new AbortController().signal, tell: () => {} });
  expect(await left()).toEqual([KEPT.toSorted(), [KEPT_SETTINGS], ["x.v1"]]);
});

test("with a node that a restore has not got, its own certificates and settings go, and no others", async () => {
  expect(await removeLostNodes(client, "x.v1")).toEqual(["v1"]);
  expect(await left()).toEqual([KEPT.toSorted(), [KEPT_SETTINGS], ["x.v1"]]);
});
