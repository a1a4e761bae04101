import { X509Certificate } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "node:tls";
import { expect } from "vitest";
import type { KubeObject, Shoot } from "../../src/api/index.ts";
import { defineKind, refTo, Secret } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { serveWebhooks } from "../../src/manager/webhooks.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import { exampleShoot } from "../support/control-plane-context.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { noteRequests } from "../support/noted-requests.ts";

const Configuration = defineKind<
  KubeObject & { webhooks: { clientConfig: { url: string; caBundle: string } }[] },
  "Cluster"
>({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  scope: "Cluster",
});
const log = createLogger({ name: "test", level: "silent" });
const day = 24 * 3_600_000;

test("a certificate near its end is renewed while two managers run, and no judgement fails meanwhile", async ({
  cluster,
}) => {
  const { client: gardenClient } = cluster;
  for (const name of ["perennial", "garden-dev"])
    await gardenClient.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  let ahead = -340 * day; // of the year for which a certificate is good
  const now = () => new Date(Date.now() + ahead);
  const options = { gardenClient, log, host: "127.0.0.1", port: 0, now };
  const slow = await serveWebhooks({ ...options, period: 1_500 });
  const quick = await serveWebhooks({ ...options, period: 50 });
  const before = await certificate(cluster);
  await expectJudged(cluster);

  let failures = 0;
  let judging = true;
  const judgements = (async () => {
    while (judging) await expectJudged(cluster).catch(() => (failures += 1));
  })();
  ahead = 0;
  const renewed = async () => {
    await eventually(async () => expect(await certificate(cluster)).not.toBe(before));
    const made = new X509Certificate(await certificate(cluster));
    await eventually(async () => expect(await shownBy(cluster)).toBe(made.fingerprint256), 10_000);
    return made;
  };
  const after = await renewed().finally(() => (judging = false));
  await judgements;
  expect(failures).toBe(0);
  expect(after.validToDate.getTime()).toBeGreaterThan(Date.now() + 360 * day);
  await Promise.all([slow.stop(), quick.stop()]);
});

test("the manager puts a deleted configuration back", async ({ cluster }) => {
  const { client: gardenClient } = cluster;
  const served = await serveWebhooks({ gardenClient, log, host: "127.0.0.1", port: 0, period: 50 });
  const configurations = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"].map((kind) => ({
    ...{ apiVersion: "admissionregistration.k8s.io/v1", kind, name: "perennial" },
  }));
  for (const ref of configurations) await gardenClient.remove(ref);
  await eventually(async () => {
    for (const ref of configurations) expect(await gardenClient.read(ref)).toBeDefined();
  });
  await eventually(() => expectJudged(cluster));
  await served.stop();
});

test("the manager asks nothing about its webhooks while nothing changes them", async ({ cluster }) => {
  const asked: string[] = [];
  const gardenClient = noteRequests(cluster.client, asked);
  const served = await serveWebhooks({ gardenClient, log, host: "127.0.0.1", port: 0, period: 20 });
  await eventually(() => asked.filter((one) => one === "watch").length === 8); // its Secret, two configurations, and five kinds of the garden
  const calls = () => asked.filter((one) => one !== "watch").length;
  await eventually(async () => {
    const before = calls(); // with what it asks when it hears of its own writes, whenever it does
    await sleep(1_000);
    expect(calls()).toBe(before);
  });
  await served.stop();
});

const certificate = async ({ client }: ControlPlane): Promise<string> => {
  const secret = await client.read(refTo(Secret, { namespace: "perennial", name: "perennial-admission" }));
  return Buffer.from(secret?.data?.["tls.crt"] ?? "", "base64").toString();
};

/** A Shoot that admission refuses for a reason of its own, so that it was asked. */
async function expectJudged({ client }: ControlPlane): Promise<void> {
  const shoot = exampleShoot();
  const metadata = { name: "two--hyphens", namespace: "garden-dev" };
  const attempt = client.create<Shoot>({ ...shoot, metadata }, { dryRun: true });
  await expect(attempt).rejects.toThrow("must not have two hyphens in a row");
}

/** Fingerprint of what the server shows that API servers are told to call. */
async function shownBy({ client }: ControlPlane): Promise<string> {
  const { clientConfig } = (await client.read(Configuration, { name: "perennial" }))?.webhooks[0] ?? expect.fail();
  const { hostname: host, port } = new URL(clientConfig.url);
  return new Promise((resolve, reject) => {
    const ca = Buffer.from(clientConfig.caBundle, "base64").toString();
    const socket = connect({ host, port: Number(port), ca }, () => {
      resolve(socket.getPeerCertificate().fingerprint256);
      socket.end();
    });
    socket.once("error", reject);
  });
}
