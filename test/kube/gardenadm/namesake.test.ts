import { createHmac } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { stringify } from "yaml";
import { issueAuthority, issueCertificate } from "../../../src/activities/secrets/pki.ts";
import { ensureSecrets } from "../../../src/activities/secrets/secrets.ts";
import { MACHINE_CHECKSUM_ANNOTATION } from "../../../src/api/annotations.ts";
import { CONTROL_PLANE_LABEL } from "../../../src/api/labels.ts";
import { ADMIN_KUBECONFIG } from "../../../src/api/names.ts";
import { clusterObject, nodeAgentSecretName, nodeObjectName } from "../../../src/components/index.ts";
import { readClusterContext } from "../../../src/gardenadm/cluster/control-plane.ts";
import { createControlPlaneActions } from "../../../src/gardenadm/join/control-plane-actions.ts";
import type { ControlPlaneAction } from "../../../src/gardenadm/join/join-control-plane.ts";
import { agentPlacesIn } from "../../../src/gardenadm/machine/agent-places.ts";
import { authorityHashes } from "../../../src/gardenadm/cluster/authorities.ts";
import {
  Lease,
  Node,
  parseKubeconfig,
  refOf,
  refTo,
  Secret,
  typeMeta,
  type KubeClient,
} from "../../../src/kube/index.ts";
import { microTime } from "../../../src/kube/time.ts";
import { controlPlanePool } from "../../../src/self-hosted/machine-config.ts";
import type { ControlPlane } from "../../support/control-plane.ts";
import { ownClusterTest } from "../../support/cluster-test.ts";
import { eventually } from "../../support/eventually.ts";
import { backedUpOnNodes } from "../../support/self-hosted-control-plane.ts";

const test = ownClusterTest({ crds: true });
const namespace = "kube-system";
const HEARTBEATS = { namespace: "kube-node-lease", name: "b" };

let folder: string;

test.beforeAll(async ({ cluster: { client } }) => {
  folder = await mkdtemp(join(tmpdir(), "perennial-namesake-"));
  const context = backedUpOnNodes();
  const { provider } = context.shoot.spec;
  const [pool, ...others] = provider.workers ?? [];
  const three = pool && { ...pool, minimum: 3, maximum: 3 };
  const workers = three ? [three, ...others] : others;
  const spec = { ...context.shoot.spec, provider: { ...provider, workers } };
  await client.apply(clusterObject({ ...context, shoot: { ...context.shoot, spec } }));
  for (const { name, addresses } of context.nodes ?? []) {
    const metadata = { name, labels: { [CONTROL_PLANE_LABEL]: "" } };
    const node = await client.create<Node>({ ...typeMeta(Node), metadata });
    const status = { addresses: addresses.map((address) => ({ type: "InternalIP", address })) };
    await client.patch(refOf(node), { status }, { subresource: "status" });
  }
  await ensureSecrets(client, await readClusterContext(client));
});

test.afterAll(async () => {
  await rm(folder, { recursive: true });
});

test.beforeEach(async ({ cluster }) => {
  const { client } = cluster;
  await orderAdministrator(cluster);
  await rm(join(folder, "machine"), { recursive: true, force: true });
  await says(client, "True");
  await beats(client);
});

test("a machine with the host name of a node at work changes no Secret, and learns why as soon as that node is heard of", async ({
  cluster,
}) => {
  const { client } = cluster;
  const before = await secretsOf(client);
  const beating = setInterval(() => void beats(client), 1_000);
  const refused = await joins(cluster).catch((error: unknown) => String(error));
  clearInterval(beating);
  expect(await secretsOf(client)).toEqual(before);
  expect(refused).toContain(
    "node b is another machine, which is at work: give this one another name with 'hostnamectl hostname NAME'",
  );
});

test("a machine that has lost its disk waits until its node is not ready any more, and gets certificates then", async ({
  cluster,
}) => {
  const { client } = cluster;
  const before = await secretsOf(client);
  const told: string[] = [];
  const joining = joins(cluster, (message) => told.push(message));
  await eventually(() => expect(told).toContain(WAITS), 20_000);
  expect(await secretsOf(client)).toEqual(before);
  await says(client, "Unknown");
  await expect(joining).rejects.toThrow("no containerd here");
  const name = nodeObjectName("kube-apiserver", "b");
  const certificates = (await secretsOf(client))[name] ?? expect.fail(`there is no Secret ${name}`);
  expect(certificates).not.toEqual(before[name]);
});

const WAITS = "node b is ready, and was another machine, or this one before it lost its disk";

const ROWS: readonly ControlPlaneAction[] = ["trust", "access", "turn", "certificates"];

/** The rows of a join until the machine's own files are due, on a machine of the name `b` with another address than node `b` has. */
async function joins(cluster: ControlPlane, tell: (message: string) => void = () => {}): Promise<void> {
  const { address, hashes } = await invitationOf(cluster);
  const root = join(folder, "machine");
  const places = agentPlacesIn(root);
  await write(join(root, "etc/machine-id"), "c".repeat(32));
  await write(places.kubeconfig, cluster.kubeconfig);
  const run = async () => await Promise.reject(new Error("no containerd here"));
  const machine = { root, hostName: "b", addresses: ["172.31.0.9"] as const, systemctl: run, ctr: run };
  const invitation = { address, token: TOKEN, role: "control-plane" as const };
  const { actions, close } = createControlPlaneActions({ machine, invitation, proof: { token: TOKEN, hashes } });
  const scope = { signal: AbortSignal.timeout(60_000), tell };
  try {
    for (const row of ROWS) await actions[row](scope);
  } finally {
    await close();
  }
}

const write = async (file: string, text: string): Promise<void> => {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
};

/** Its pool's Secret gives a node of the control plane the administrator's kubeconfig. */
async function orderAdministrator({ client, kubeconfig }: ControlPlane): Promise<void> {
  const context = await readClusterContext(client);
  const name = nodeAgentSecretName(context, controlPlanePool(context));
  const inline = { encoding: "b64", data: Buffer.from(kubeconfig).toString("base64") };
  const spec = { files: [{ path: ADMIN_KUBECONFIG, content: { inline } }], units: [] };
  const osc = Buffer.from(stringify({ kind: "OperatingSystemConfig", spec })).toString("base64");
  const metadata = { namespace, name, annotations: { [MACHINE_CHECKSUM_ANNOTATION]: "1" } };
  await client.apply({ ...typeMeta(Secret), metadata, data: { "osc.yaml": osc } });
}

/** Node `b` of another machine, as the controller manager judges it. */
async function says(client: KubeClient, ready: string): Promise<void> {
  const conditions = [{ type: "Ready", status: ready }];
  const status = { conditions, nodeInfo: { ...NODE_INFO, machineID: "b".repeat(32) } };
  await client.patch(refTo(Node, { name: "b" }), { status }, { subresource: "status" });
}

const NODE_INFO = Object.fromEntries(
  [
    ...["bootID", "kernelVersion", "osImage", "containerRuntimeVersion", "kubeletVersion", "kubeProxyVersion"],
    ...["operatingSystem", "architecture", "systemUUID"],
  ].map((key) => [key, ""]),
);

/** The kubelet of the other machine is at work. */
async function beats(client: KubeClient): Promise<void> {
  await client.apply({
    ...typeMeta(Lease),
    metadata: HEARTBEATS,
    spec: { holderIdentity: "b", renewTime: microTime() },
  });
}

const TOKEN = { id: "abcdef", secret: "0123456789abcdef" };

/** What a machine is told to join by, and who proves by the token that it is the cluster. */
async function invitationOf({ kubeconfig: known }: ControlPlane) {
  const { cluster } = parseKubeconfig(known);
  const kubeconfig = stringify({ clusters: [{ name: "", cluster }] });
  const authority = await issueAuthority("kubernetes", new Date());
  const request = { commonName: "kube-apiserver", hosts: ["127.0.0.1"], usages: ["server"] as const };
  const { certificate: cert, key } = await issueCertificate(authority, request, new Date());
  const data = { kubeconfig, "jws-kubeconfig-abcdef": signature(kubeconfig) };
  const server = createServer({ cert, key }, (_, answer) => void answer.end(JSON.stringify({ data })));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  const ca = Buffer.from(String(cluster["certificate-authority-data"]), "base64").toString();
  return {
    address: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hashes: authorityHashes(ca, "the test"),
  };
}

/** A JWS by HS256, without its payload. */
function signature(payload: string): string {
  const header = Buffer.from('{"alg":"HS256","kid":"abcdef"}').toString("base64url");
  const signed = `${header}.${Buffer.from(payload).toString("base64url")}`;
  return `${header}..${createHmac("sha256", TOKEN.secret).update(signed).digest("base64url")}`;
}

/** Contents of all Secrets, by name. */
const secretsOf = async (client: KubeClient): Promise<Record<string, unknown>> =>
  Object.fromEntries((await client.list(Secret, { namespace })).map(({ metadata, data }) => [metadata.name, data]));
