import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { makeServingCertificate, webhookConfigurations } from "../../src/admission/index.ts";
import { rememberWebhooks, removeWebhooks } from "../../src/local/environment/webhooks.ts";
import { test } from "../support/cluster-test.ts";

const host = "127.0.0.1";
const configurations = { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingWebhookConfiguration" };

test("a garden that existed before takes Shoots again once the environment that judged them is gone", async ({
  cluster,
}) => {
  const stateDir = await mkdtemp(join(tmpdir(), "garden-webhooks-"));
  try {
    await mkdir(join(stateDir, "kubeconfigs"));
    await writeFile(join(stateDir, "kubeconfigs/garden.yaml"), cluster.kubeconfig);
    const { cert: caBundle } = await makeServingCertificate([host], new Date());
    for (const configuration of webhookConfigurations({ caBundle, url: `https://${host}:1` }))
      await cluster.client.apply(configuration);
    const binding = {
      ...{ apiVersion: "core.gardener.cloud/v1beta1", kind: "SecretBinding", provider: { type: "local" } },
      ...{ metadata: { name: "local", namespace: "default" }, secretRef: { name: "local", namespace: "default" } },
    };
    const write = () => cluster.client.apply(binding, { dryRun: true }).then(({ kind }) => kind, String);
    await expect.poll(write, { timeout: 10_000 }).toContain("failed calling webhook");

    await removeWebhooks({ stateDir }); // it has installed none
    expect(await cluster.client.list(configurations)).toHaveLength(1);
    await rememberWebhooks({ stateDir }, { host });
    await removeWebhooks({ stateDir });
    await expect.poll(write, { timeout: 10_000 }).toBe("SecretBinding");
    await removeWebhooks({ stateDir }); // as after a `down` that was interrupted
  } finally {
    await rm(stateDir, { recursive: true });
  }
});
