import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect } from "vitest";
import { OperatingSystemConfig } from "../../../src/api/index.ts";
import { ADMIN_KUBECONFIG, type NodeRole } from "../../../src/api/names.ts";
import { CONTROL_PLANE_LABEL } from "../../../src/api/labels.ts";
import {
  clusterObject,
  components,
  nodeAgentSecret,
  poolsOf,
  withGardenerDefaults,
  type WorkerPool,
} from "../../../src/components/index.ts";
import { readClusterContext } from "../../../src/gardenadm/cluster/control-plane.ts";
import { createControlPlaneActions } from "../../../src/gardenadm/join/control-plane-actions.ts";
import type { Invitation } from "../../../src/gardenadm/join/newcomer.ts";
import type { Proof } from "../../../src/gardenadm/join/trust.ts";
import { createWorkerActions } from "../../../src/gardenadm/join/worker-actions.ts";
import { agentPlacesIn } from "../../../src/gardenadm/machine/agent-places.ts";
import { createNodeApprover, type NodeApprover } from "../../../src/gardenadm/node-access/approver.ts";
import {
  generateBootstrapToken,
  Node,
  refOf,
  typeMeta,
  type BootstrapToken,
  type KubeClient,
} from "../../../src/kube/index.ts";
import { matchBootstrapToken } from "../../../src/kube/bootstrap-token.ts";
import { createLogger } from "../../../src/log.ts";
import { announceCluster, type Announced } from "../../support/cluster-info.ts";
import { startSigner, type Signer } from "../../support/certificate-signer.ts";
import { ownClusterTest } from "../../support/cluster-test.ts";
import type { ControlPlane } from "../../support/control-plane.ts";
import { fileTree } from "../../support/file-tree.ts";
import { exampleShoot } from "../../support/control-plane-context.ts";
import { makeToken } from "../../support/node-access.ts";
import { selfHostedContext } from "../../support/self-hosted-control-plane.ts";
import { filesWrittenBy } from "../../support/written-files.ts";
import { machineIn } from "../../unit/gardenadm/lab.ts";

/** Leads nowhere but by a line in a hosts file, and is what the API server proves. */
const NAME = "api.join.test";
const flags = ["--enable-bootstrap-token-auth=true", "--authorization-mode=Node"];
// Its server has a certificate for a name of its own.
const test = ownClusterTest({ flags, hosts: [NAME], crds: true });
const log = createLogger({ name: "test", level: "silent" });

let cluster: ControlPlane;
let approver: NodeApprover;
let signer: Signer;
let announced: Announced;
let unknown: BootstrapToken;
const tokens = {} as Record<NodeRole, BootstrapToken>;
/** A folder with the machine's. */
let folder: string;
let root: string;

test.beforeAll(async ({ cluster: own }) => {
  cluster = own;
  const { client } = cluster;
  folder = await mkdtemp(join(tmpdir(), "perennial-refusals-"));
  await makeNode(client, "a", { control: true, machine: "a" });
  await makeNode(client, "taken", { machine: "b" });
  await orderPools(cluster);
  approver = createNodeApprover(client, log);
  approver.start();
  signer = startSigner(cluster);
  for (const role of ["worker", "control-plane"] as const)
    tokens[role] = matchBootstrapToken(await makeToken(cluster, role)) ?? expect.fail("no token");
  unknown = generateBootstrapToken();
  const port = new URL(client.server).port;
  announced = await announceCluster(cluster, [...Object.values(tokens), unknown], `https://${NAME}:${port}`);
});

test.afterAll(async () => {
  await Promise.all([approver.stop(), signer.stop()]);
  await rm(folder, { recursive: true });
});

test.beforeEach(async () => {
  root = join(folder, "machine");
  await makeBare();
});

async function makeBare(): Promise<void> {
  await rm(root, { recursive: true, force: true });
  await write("/etc/machine-id", "c".repeat(32));
  await write("/etc/hosts", "\n127.0.0.1 localhost\n\n");
  await write("/etc/resolv.conf", "");
  for (const path of ["/opt", "/usr/local", "/var/lib"]) await mkdir(join(root, path), { recursive: true });
}

/** How a command differs from one that is let in. */
interface Given {
  readonly role?: NodeRole;
  readonly hostName?: string;
  readonly pool?: string;
  readonly zone?: string;
  readonly token?: () => BootstrapToken;
  readonly hashes?: readonly string[];
}

const REFUSED: readonly (readonly [string, Given, string])[] = [
  ["a pool that does not exist", { pool: "none" }, "has no pool none: name one of worker"],
  ["a pool of the other role", { pool: "cp" }, "pool cp is none of worker nodes"],
  ["a zone where there are none", { zone: "z" }, "pool worker has no zones: leave out --zone"],
  ["no zone where there are several", { pool: "zoned" }, "pool zoned has zones a, b: say with --zone"],
  ["a zone that does not exist", { pool: "zoned", zone: "c" }, "pool zoned has no zone c"],
  ["a kubelet newer than the API server", { pool: "newer" }, "newer than the API server of v"],
  ["a pool that is not ordered yet", { pool: "later" }, "which says what the machine is to be, does not exist"],
  ["the host name of a node at work", { hostName: "taken" }, "node taken is another machine, which is at work"],
  ["the host name of a node of the other role", { hostName: "a" }, "node a is another machine, which is at work"],
  [
    "a control plane's token",
    { token: () => tokens["control-plane"] },
    "is not for worker nodes: make one with 'gardenadm token create --print-join-command'",
  ],
  [
    "a worker's token",
    { role: "control-plane", token: () => tokens.worker },
    "is not for control-plane nodes: make one with 'gardenadm token create --control-plane --print-join-command'",
  ],
  ["a token that has just expired", { token: () => unknown }, "is not known to the API server: unless"],
  ["the authority of another cluster", { hashes: [`sha256:${"0".repeat(64)}`] }, "belongs to another cluster"],
  ["a place in a control plane that has its number", { role: "control-plane" }, "pool cp has 1 nodes already"],
];

describe("a join is refused, and leaves the machine as it was, with", () => {
  test.for(REFUSED)("%s", async ([, given, sentence]) => {
    const before = await fileTree(root);
    await expect(joins(given)).rejects.toThrow(sentence);
    expect(await fileTree(root)).toEqual(before);
  });

  test("networks that overlap those of the machine", async () => {
    await write("/etc/resolv.conf", "nameserver 10.180.0.10\n");
    const before = await fileTree(root);
    await expect(joins({})).rejects.toThrow("shares addresses with the resolver (10.180.0.10/32) of this machine");
    expect(await fileTree(root)).toEqual(before);
  });

  test("a name that was given to a node of the other role, which only the cluster knows", async () => {
    const { client } = cluster;
    await makeNode(client, "gone", { control: true });
    const before = await fileTree(root);
    await expect(joins({ hostName: "gone" })).rejects.toThrow(
      "a certificate for gardener.cloud:node-agent:machine:gone was denied",
    );
    expect(await fileTree(root)).toEqual(before);
  });
});

describe("a join that was ended as soon as it had written", () => {
  test("anything goes on, and one that is refused changes nothing of that", async () => {
    const hostName = "killed";
    const written = await filesWrittenBy(async () => await joins({ hostName }), root);
    const all = await fileTree(root);
    expect(written.toSorted()).toEqual(await files());
    expect(written[0]).toBe("/var/lib/gardener-node-agent/pool.yaml");
    expect(written).toContain("/etc/hosts");
    await cp(root, join(folder, "whole"), { recursive: true });
    for (const [index, file] of written.entries()) {
      await makeBare();
      for (const path of written.slice(0, index + 1)) await cp(join(folder, "whole", path), join(root, path));
      const before = await fileTree(root);
      await expect(joins({ hostName, pool: "none" })).rejects.toThrow("has no pool none");
      expect(await fileTree(root), file).toEqual(before);
      await joins({ hostName });
      expect(Object.keys(await fileTree(root)), file).toEqual(Object.keys(all));
    }
  });

  test("all of it goes on by what the machine has, also when the token is not known any more", async () => {
    const hostName = "goes-on";
    await joins({ hostName });
    const { kubeconfig } = agentPlacesIn(root);
    const before = await readFile(kubeconfig, "utf8");
    await joins({ hostName, token: () => unknown });
    expect(await readFile(kubeconfig, "utf8")).toBe(before);
  });
});

/** The rows of a join up to the first files on the machine. */
async function joins({ role = "worker", hostName = "fresh", token, hashes = announced.hashes, ...place }: Given) {
  const given = token?.() ?? tokens[role];
  const invitation: Invitation = { address: announced.address, token: given, role, ...place };
  const proof: Proof = { token: given, hashes };
  const deps = { machine: machineIn(root, hostName), invitation, proof };
  const scope = { signal: AbortSignal.timeout(60_000), tell: () => {} };
  const worker = createWorkerActions(deps);
  const controlPlane = createControlPlaneActions(deps);
  try {
    const rows =
      role === "worker"
        ? (["trust", "access", "place"] as const).map((row) => worker.actions[row])
        : (["trust", "access", "turn", "certificates"] as const).map((row) => controlPlane.actions[row]);
    for (const row of rows) await row(scope);
  } finally {
    await Promise.all([worker.close(), controlPlane.close()]);
  }
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

/** What a machine has by now that it had not when it was bare. */
async function files(): Promise<string[]> {
  const bare = ["/etc/machine-id", "/etc/resolv.conf"];
  return Object.entries(await fileTree(root)).flatMap(([path, { kind }]) =>
    kind === "file" && !bare.includes(path) ? [path] : [],
  );
}

interface NodeFacts {
  /** It carries the control plane. */
  readonly control?: boolean;
  /** The machine whose kubelet is at work as this node; none unless said. */
  readonly machine?: string;
}

async function makeNode(client: KubeClient, name: string, { control = false, machine }: NodeFacts): Promise<void> {
  const metadata = { name, labels: control ? { [CONTROL_PLANE_LABEL]: "" } : {} };
  const node = await client.create<Node>({ ...typeMeta(Node), metadata });
  const status = {
    addresses: [{ type: "InternalIP", address: "172.31.0.1" }],
    conditions: [{ type: "Ready", status: machine === undefined ? "Unknown" : "True" }],
    nodeInfo: { ...NODE_INFO, machineID: (machine ?? "0").repeat(32) },
  };
  await client.patch(refOf(node), { status }, { subresource: "status" });
}

const NODE_INFO = Object.fromEntries(
  [
    ...["bootID", "kernelVersion", "osImage", "containerRuntimeVersion", "kubeletVersion", "kubeProxyVersion"],
    ...["operatingSystem", "architecture", "systemUUID"],
  ].map((key) => [key, ""]),
);

/** A Shoot with pools of all kinds, whose machines are ordered, but for those of one; and the rights of those who join. */
async function orderPools({ client, kubeconfig }: ControlPlane): Promise<void> {
  const context = selfHostedContext(["a"]);
  const { provider } = context.shoot.spec;
  const [worker] = provider.workers ?? [];
  if (worker === undefined) return expect.fail("the example has no pool");
  const { zones: _, ...plain } = worker;
  const workers: WorkerPool[] = [
    { ...plain, name: "cp", controlPlane: {}, minimum: 1, maximum: 1 },
    plain,
    { ...plain, name: "zoned", zones: ["a", "b"] },
    { ...plain, name: "newer", kubernetes: { version: "1.99.0" } },
    { ...plain, name: "later" },
  ];
  const shoot = withGardenerDefaults(exampleShoot({ provider: { ...provider, workers } }));
  await client.apply(clusterObject({ ...context, shoot }));
  const known = await readClusterContext(client);
  for (const object of components["node-bootstrap"].objects(known)) await client.apply(object);
  const inline = { encoding: "b64" as const, data: Buffer.from(kubeconfig).toString("base64") };
  for (const pool of poolsOf(known).filter(({ name }) => name !== "later")) {
    const files = pool.controlPlane === undefined ? [] : [{ path: ADMIN_KUBECONFIG, content: { inline } }];
    const config = { ...typeMeta(OperatingSystemConfig), metadata: { name: "x", namespace: "kube-system" } };
    const spec = { type: "local", purpose: "reconcile" as const, files };
    await client.apply(nodeAgentSecret(known, pool, { ...config, spec }, () => ""));
  }
}
