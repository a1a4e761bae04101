import { mkdtemp, readFile, rm } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createWebhookServer,
  judge,
  makeServingCertificate,
  webhookConfigurations,
  type WebhookServer,
} from "../../src/admission/index.ts";
import { createPki, type KeyPair } from "../../src/local/cluster/pki.ts";
import { writeWebhookClient } from "../../src/local/cluster/webhook-client.ts";
import { createLogger } from "../../src/log.ts";
import { startControlPlane, type ControlPlane } from "../support/control-plane.ts";
import { applyCrds } from "../support/crds.ts";
import { eventually } from "../support/eventually.ts";
import { exampleObjects } from "../support/examples.ts";
import { seconds } from "../support/patience.ts";

// The local environment's own files make the API server known; see src/local/cluster/webhook-client.ts.
let directory: string;
let garden: ControlPlane;
let server: WebhookServer;
let port: number;
let ca: string;
let stranger: KeyPair;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "perennial-webhook-callers-"));
  const pki = createPki(join(directory, "pki"));
  const admissionConfig = await writeWebhookClient(directory, pki);
  const others = createPki(join(directory, "others"));
  stranger = await others.issue(await others.authority("ca"), { name: "stranger", commonName: "kube-apiserver" });
  garden = await startControlPlane({ flags: [`--admission-control-config-file=${admissionConfig}`] });
  await applyCrds(garden.client);
  const { caBundle, ...tls } = await makeServingCertificate(["127.0.0.1"]);
  ca = caBundle;
  const log = createLogger({ name: "admission", level: "silent" });
  const refuse = async () => judge([{ field: "spec", message: "is seen by the webhook" }]);
  const webhooks = { "/validate/shoots": refuse, "/default/shoots": async () => judge([]) };
  const clientCa = await readFile(join(directory, "pki", "ca-webhook-client.crt"), "utf8");
  server = createWebhookServer({ host: "127.0.0.1", port: 0, tls, clientCa, log, webhooks });
  port = await server.start();
  for (const object of webhookConfigurations({ caBundle, url: `https://127.0.0.1:${port}` }))
    await garden.client.apply(object);
}, seconds(120));

afterAll(async () => {
  await server?.stop();
  await garden?.stop();
  await rm(directory, { recursive: true, force: true });
});

test("the garden's API server is answered, also after the webhooks' certificate was renewed", async () => {
  await eventually(async () => expect(await refusal()).toContain("spec: is seen by the webhook"));
  const { caBundle, ...tls } = await makeServingCertificate(["127.0.0.1"]);
  server.renew(tls);
  ca = caBundle;
  for (const object of webhookConfigurations({ caBundle, url: `https://127.0.0.1:${port}` }))
    await garden.client.apply(object);
  await eventually(async () => expect(await refusal()).toContain("spec: is seen by the webhook"));
});

test("a caller without a certificate is turned away, before it has asked", async () => {
  await expect(ask({})).rejects.toThrow(/certificate required|ECONNRESET|socket hang up/);
});

test("a caller with a certificate of the same name, from another authority, is turned away", async () => {
  await expect(ask({ cert: stranger.certificate, key: stranger.key })).rejects.toThrow(
    /unknown ca|certificate|ECONNRESET|socket hang up/,
  );
});

async function refusal(): Promise<string> {
  const example = (await exampleObjects()).find(({ kind }) => kind === "Shoot");
  if (example === undefined) throw new Error("there is no example of a Shoot");
  await garden.client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "garden-dev" } });
  const metadata = { name: "called", namespace: "garden-dev" };
  return await garden.client.create({ ...example, metadata }, { dryRun: true }).then(() => "admitted", String);
}

/** What the server answers to a request for a review; the authority is right, the caller may not be. */
function ask(identity: { readonly cert?: string; readonly key?: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = {
      host: "127.0.0.1",
      port,
      path: "/validate/shoots",
      method: "POST",
      ca,
      agent: false,
      ...identity,
    };
    const sent = request(options, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode ?? 0));
    });
    sent.on("error", reject);
    sent.end("{}");
  });
}
