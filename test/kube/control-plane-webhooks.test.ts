import { afterAll, describe, expect } from "vitest";
import { volumeClaim } from "../../src/activities/backup/volume-claim.ts";
import { makeServingCertificate } from "../../src/admission/index.ts";
import type { KubeObject } from "../../src/api/index.ts";
import { components, operatingSystemConfigs, poolsOf } from "../../src/components/index.ts";
import {
  answerWith,
  createWebhookServer,
  webhookConfiguration,
  type WebhookServer,
} from "../../src/extension/index.ts";
import { refOf } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import { exampleContext } from "../support/control-plane-context.ts";
import type { ControlPlane } from "../support/control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { providerWebhook } from "../support/provider-webhook.ts";
import { seconds } from "../support/patience.ts";

const context = exampleContext();
const changed = [
  ...(
    ["kube-apiserver", "kube-apiserver-service", "kube-controller-manager", "kube-scheduler", "etcd"] as const
  ).flatMap((name) => components[name].objects(context)),
  ...poolsOf(context).flatMap((pool) => operatingSystemConfigs(context, pool)),
];
let plane: ControlPlane;
let server: WebhookServer;
let calls = 0;

/** A seed with a webhook that changes flags, environment, volumes, sidecars, resources, replicas and more. */
test.beforeAll(async ({ cluster }) => {
  plane = cluster;
  const { client } = cluster;
  const { caBundle, ...tls } = await makeServingCertificate(["127.0.0.1"]);
  const answer = answerWith(providerWebhook, client);
  const webhooks = { "/": (request: Parameters<typeof answer>[0]) => (calls++, answer(request)) };
  const log = createLogger({ name: "webhook", level: "silent" });
  server = createWebhookServer({ host: "127.0.0.1", port: 0, tls, log, webhooks });
  const url = `https://127.0.0.1:${await server.start()}/`;
  await client.apply(webhookConfiguration(providerWebhook, { caBundle, url }));
  for (const object of components.namespace.objects(context)) await client.apply(object);
  await eventually(async () => {
    await client.apply(changed.find(({ kind }) => kind === "Service") as KubeObject, { dryRun: true });
    expect(calls).toBeGreaterThan(0);
  });
});
afterAll(() => server?.stop());

describe("what a provider's webhook has changed", () => {
  test(
    "stays, and nothing is rolled out, when it is applied a hundred times more",
    { timeout: seconds(300) },
    async () => {
      const { client } = plane;
      const before = new Map<KubeObject, KubeObject>();
      for (const object of changed) before.set(object, await client.apply(object));
      expect(JSON.stringify([...before.values()])).toContain("--cloud-provider=external");
      for (let round = 0; round < 100; round++) await Promise.all(changed.map((object) => client.apply(object)));
      for (const [object, { metadata, spec }] of before) {
        const after = await client.read(refOf(object));
        expect(after?.metadata.generation, `${object.kind} ${object.metadata.name}`).toBe(metadata.generation);
        expect(after?.metadata.resourceVersion, `${object.kind} ${object.metadata.name}`).toBe(
          metadata.resourceVersion,
        );
        expect(after?.["spec"]).toEqual(spec);
      }
    },
  );

  test("is what etcd's volume is restored into: of its size, and of its storage class", async () => {
    const claim = await volumeClaim(plane.client, context);
    expect(claim.metadata.name).toBe("main-etcd-etcd-main-0");
    expect(claim["spec"]).toMatchObject({ storageClassName: "fast", resources: { requests: { storage: "25Gi" } } });
    expect(await plane.client.create(claim, { dryRun: true })).toMatchObject({ spec: { storageClassName: "fast" } });
  });
});

test("while the webhook is down, nothing is written past it, and the error names it", async () => {
  const deployment = changed.find(({ kind }) => kind === "Deployment") as KubeObject;
  const before = await plane.client.read(refOf(deployment));
  await server.stop();
  await expect(
    plane.client.apply({ ...deployment, spec: { ...(deployment["spec"] as object), replicas: 3 } }),
  ).rejects.toThrow(
    /cannot apply Deployment .*kube-apiserver: .*failed calling webhook "deployments\.cloud\.webhooks\.local"/,
  );
  expect((await plane.client.read(refOf(deployment)))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
});
