import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { expect } from "vitest";
import { makeServingCertificate } from "../../src/admission/index.ts";
import { extendingTest as test } from "../support/cluster-test.ts";

const ours = { "example.org/asked": "true" };

test("an API server asks a webhook again that was too busy, after the second that it named", async ({ cluster }) => {
  const { caBundle, cert, key } = await makeServingCertificate(["127.0.0.1"]);
  const asked: number[] = [];
  const server = createServer({ cert, key }, (request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      asked.push(Date.now());
      if (asked.length === 1) return void response.writeHead(429, { "retry-after": "1" }).end("too busy");
      const {
        apiVersion,
        kind,
        request: { uid },
      } = JSON.parse(Buffer.concat(pieces).toString()) as Review;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ apiVersion, kind, response: { uid, allowed: true } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const clientConfig = { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(caBundle).toString("base64") };
  const webhook = {
    ...{ name: "busy.example.org", clientConfig, failurePolicy: "Fail", sideEffects: "None" },
    admissionReviewVersions: ["v1"],
    objectSelector: { matchLabels: ours }, // an API server that has just begun makes ConfigMaps itself
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
  };
  const kind = "ValidatingWebhookConfiguration";
  const metadata = { name: webhook.name };
  const configuration = { apiVersion: "admissionregistration.k8s.io/v1", kind, metadata, webhooks: [webhook] };
  await cluster.client.create(configuration);
  for (let n = 0; asked.length === 0; n += 1)
    await cluster.client.create({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `a${n}`, namespace: "default", labels: ours },
    });
  expect(asked).toHaveLength(2);
  expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThanOrEqual(900);
  server.close();
  server.closeAllConnections();
});

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: { readonly uid: string };
}
