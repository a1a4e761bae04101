import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { issueAuthority, issueCertificate, type KeyPair } from "../../../src/activities/secrets/pki.ts";
import { enter } from "../../../src/gardenadm/join/entry.ts";
import { refuseOtherCluster } from "../../../src/gardenadm/join/other-cluster.ts";
import { renderKubeconfig } from "../../../src/kube/index.ts";

const ADDRESS = "https://10.0.0.1";
const AGENT = "var/lib/gardener-node-agent/credentials/kubeconfig";
const KUBELET = "var/lib/kubelet/kubeconfig-real";
const ADMINISTRATOR = "etc/kubernetes/admin.conf";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "other-cluster-"));
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

/** The machine has joined the cluster of this authority. */
async function isNodeOf(authority: KeyPair, file: string, beside = ""): Promise<void> {
  const request = { commonName: "gardener.cloud:node-agent:machine:a", usages: ["client"] as const };
  const { certificate: clientCert, key: clientKey } = await issueCertificate(authority, request, new Date());
  const ca = authority.certificate + beside;
  await mkdir(dirname(join(root, file)), { recursive: true });
  await writeFile(join(root, file), renderKubeconfig({ server: ADDRESS, ca, clientCert, clientKey }));
}

/** What a machine with a certificate that is good does, which asks for none. */
async function joins({ certificate: ca }: KeyPair, role: "worker" | "control-plane" = "worker") {
  await refuseOtherCluster(root, ca);
  const prospect = { pool: { name: "p" }, secretName: "s" };
  const token = { id: "abcdef", secret: "0123456789abcdef" };
  const cluster = { server: ADDRESS, ca };
  const entry = { cluster, way: cluster, client: {}, prospect, role, token };
  return await enter({ root, hostName: "a", addresses: ["10.0.0.9"] }, entry as never, new AbortController().signal);
}

test.each([
  ["worker", AGENT],
  ["worker", KUBELET],
  ["control-plane", AGENT],
  ["control-plane", ADMINISTRATOR],
] as const)(
  "a machine that another cluster knows does not join as a %s, and keeps what it has: %s",
  async (role, file) => {
    const [own, other] = [
      await issueAuthority("kubernetes", new Date()),
      await issueAuthority("kubernetes", new Date()),
    ];
    await isNodeOf(own, file);
    const before = [await readdir(root, { recursive: true }), await readFile(join(root, file), "utf8")];
    await expect(joins(other, role)).rejects.toThrow(
      "this machine is a node of another cluster: take it out by 'gardenadm reset', or, where that cluster is gone, by 'gardenadm reset --machine-only'",
    );
    expect([await readdir(root, { recursive: true }), await readFile(join(root, file), "utf8")]).toEqual(before);
  },
);

test("a node of this very cluster comes in again, also while it knows two authorities of it", async () => {
  const [own, next] = [await issueAuthority("kubernetes", new Date()), await issueAuthority("kubernetes", new Date())];
  await isNodeOf(own, AGENT, next.certificate);
  expect((await joins(own)).node).toBe("a");
  expect(await readFile(join(root, "var/lib/gardener-node-agent/cluster-ca.crt"), "utf8")).toBe(own.certificate);
  expect((await joins(next)).node).toBe("a");
});

test("what a machine comes in with is for root alone", async () => {
  const own = await issueAuthority("kubernetes", new Date());
  await isNodeOf(own, AGENT);
  const { places } = await joins(own);
  for (const file of [places.token, places.pool, places.configuration])
    expect([file, (await stat(file)).mode & 0o077]).toEqual([file, 0]);
});

test("a kubeconfig that a kill has left unwritten keeps no machine from joining", async () => {
  const own = await issueAuthority("kubernetes", new Date());
  await isNodeOf(own, AGENT);
  await mkdir(join(root, "var/lib/kubelet"), { recursive: true });
  await writeFile(join(root, KUBELET), "");
  expect((await joins(own)).node).toBe("a");
});
