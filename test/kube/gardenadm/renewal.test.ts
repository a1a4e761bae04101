import { X509Certificate } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { ensureSecrets } from "../../../src/activities/secrets/secrets.ts";
import { APPLIED_CHECKSUM_ANNOTATION, MACHINE_CHECKSUM_ANNOTATION } from "../../../src/api/annotations.ts";
import { CONTROL_PLANE_LABEL } from "../../../src/api/labels.ts";
import { clusterObject, nodeAgentSecretName } from "../../../src/components/index.ts";
import { readClusterContext } from "../../../src/gardenadm/cluster/control-plane.ts";
import { renewCertificates } from "../../../src/gardenadm/renewal/renewal.ts";
import { Node, refOf, refTo, Secret, typeMeta, type KubeClient } from "../../../src/kube/index.ts";
import { controlPlanePool } from "../../../src/self-hosted/machine-config.ts";
import { test } from "../../support/cluster-test.ts";
import { applyCrds } from "../../support/crds.ts";
import { eventually } from "../../support/eventually.ts";
import { backedUpOnNodes } from "../../support/self-hosted-control-plane.ts";

const namespace = "kube-system";
const DAY = 86_400_000;
const scope = () => ({ signal: AbortSignal.timeout(50_000), tell: () => {} });

let folder: string;
const machine = (hostName: string) => ({ root: join(folder, hostName), hostName });

test.afterAll(async () => {
  await rm(folder, { recursive: true });
});

test.beforeAll(async ({ cluster: { client } }) => {
  folder = await mkdtemp(join(tmpdir(), "perennial-renewal-"));
  for (const name of ["a", "b"]) {
    await mkdir(join(folder, name, "etc"), { recursive: true });
    await writeFile(join(folder, name, "etc/machine-id"), `${name.repeat(32)}\n`);
  }
  await applyCrds(client);
  const context = backedUpOnNodes();
  await client.apply(clusterObject(context));
  for (const { name, addresses } of context.nodes ?? []) {
    const node = await client.create<Node>({
      ...typeMeta(Node),
      metadata: { name, labels: { [CONTROL_PLANE_LABEL]: "" } },
    });
    const status = { addresses: addresses.map((address) => ({ type: "InternalIP", address })) };
    await client.patch(refOf(node), { status }, { subresource: "status" });
  }
});

test("certificates of which 80 % are over are made anew on any node, and are there when the nodes have taken them up", async ({
  cluster: { client },
}) => {
  await ensureSecrets(client, await readClusterContext(client), { now: new Date(Date.now() - 300 * DAY) });
  const old = await secretsOf(client);
  const renewals = { over: 0 };
  const renewing = Promise.all(
    // Agents of two nodes have seen it at once.
    ["a", "b"].map(async (host) => {
      await renewCertificates(client, machine(host), scope());
      renewals.over += 1;
    }),
  );
  const checksum = await eventually(async () => {
    const pool = controlPlanePool(await readClusterContext(client));
    const name = nodeAgentSecretName(await readClusterContext(client), pool);
    const order = await client.read(Secret, { namespace, name });
    return order?.metadata.annotations?.[MACHINE_CHECKSUM_ANNOTATION] ?? false;
  }, 30_000);
  await announce(client, "a", checksum);
  await delay(1_500);
  expect(renewals.over).toBe(0);
  await announce(client, "b", checksum);
  await renewing;

  const now = await secretsOf(client);
  const certificates = Object.entries(now).filter(([name]) => name.endsWith("/tls.crt"));
  expect(certificates.length).toBeGreaterThan(10);
  for (const [name, pem] of certificates) {
    expect(pem, name).not.toBe(old[name]);
    expect(new X509Certificate(pem).validToDate.getTime(), name).toBeGreaterThan(Date.now() + 360 * DAY);
  }
  const lasting = Object.entries(old).filter(([name]) => /\/(ca\.key|ca\.crt|id_rsa|encryption\S*|secret)$/.test(name));
  expect(lasting.length).toBeGreaterThan(10);
  for (const [name, value] of lasting) expect(now[name], name).toBe(value);
});

test("where none is due, none is made anew", async ({ cluster: { client } }) => {
  const before = await secretsOf(client);
  await renewCertificates(client, machine("a"), scope());
  expect(await secretsOf(client)).toEqual(before);
});

test("an authority that is gone is not made anew, and neither is anything by another", async ({
  cluster: { client },
}) => {
  const before = await secretsOf(client);
  await client.remove(refTo(Secret, { namespace, name: "ca-client" }));
  await expect(renewCertificates(client, machine("a"), scope())).rejects.toThrow("would lock out nodes and users");
  const left = Object.entries(before).filter(([name]) => !name.startsWith("ca-client/"));
  expect(await secretsOf(client)).toEqual(Object.fromEntries(left));
});

/** The values of all Secrets but the pool's, by name and key. */
async function secretsOf(client: KubeClient): Promise<Record<string, string>> {
  const secrets = await client.list(Secret, { namespace });
  const ours = secrets.filter(({ metadata: { name } }) => !name.startsWith("gardener-node-agent"));
  return Object.fromEntries(
    ours.flatMap(({ metadata, data = {} }) =>
      Object.entries(data).map(([key, value]) => [`${metadata.name}/${key}`, Buffer.from(value, "base64").toString()]),
    ),
  );
}

async function announce(client: KubeClient, name: string, checksum: string): Promise<void> {
  await client.patch(refTo(Node, { name }), {
    metadata: { annotations: { [APPLIED_CHECKSUM_ANNOTATION]: checksum } },
  });
}
