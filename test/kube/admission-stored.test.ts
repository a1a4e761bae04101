import { expect } from "vitest";
import { Shoot } from "../../src/api/index.ts";
import { CustomResourceDefinition, refTo, type KubeClient } from "../../src/kube/index.ts";
import { admissionTest as test } from "../support/admission-lab.ts";
import { withChange } from "../support/changed-shoots/case.ts";
import { applyCrds } from "../support/crds.ts";
import { eventually } from "../support/eventually.ts";
import { exampleObjects } from "../support/examples.ts";

// Shoots that an older version let in, when kinds had fewer bounds and admission fewer rules.

const confirmation = "confirmation.gardener.cloud/deletion";
const webhooks = ["Mutating", "Validating"].map((kind) => ({
  ...{ apiVersion: "admissionregistration.k8s.io/v1", kind: `${kind}WebhookConfiguration`, name: "perennial" },
}));
let client: KubeClient;

test.beforeAll(async ({ admissionLab }) => {
  client = admissionLab.client;
  const example = (await exampleObjects()).find(({ kind }) => kind === "Shoot") as Shoot;
  const broken = withChange(example, {
    "spec.dns.domain": "qa-☃.DEV.perennial.test",
    "spec.networking.pods": "10.180.3.7/33",
    "spec.provider.workers[0].maximum": 99_999_999_999,
    "spec.provider.workers[0].maxSurge": "50percent",
    "spec.provider.workers[0].labels": { "bad key!": "x y" },
    "spec.kubernetes.kubeAPIServer.eventTTL": "soon",
  });
  await withoutJudgement(async () => {
    for (const name of ["qa.bad", "mended"]) {
      const metadata = { name, namespace: "garden-dev", finalizers: ["gardener"] };
      await eventually(() => client.create({ ...broken, metadata }));
    }
  });
});

test("a Shoot with a name and a domain that cannot be is deleted all the same", async () => {
  const ref = refTo(Shoot, { namespace: "garden-dev", name: "qa.bad" });
  await client.patch(ref, { metadata: { labels: { seen: "true" } } });
  await client.patch(ref, { metadata: { annotations: { [confirmation]: "true" } } });
  await client.remove(ref);
  await client.patch(ref, { metadata: { finalizers: [] } });
  expect(await client.read(ref)).toBeUndefined();
});

test("a Shoot that would not be admitted any more can be mended field by field, and not broken further", async () => {
  const ref = refTo(Shoot, { namespace: "garden-dev", name: "mended" });
  await client.patch(ref, { spec: { purpose: "testing" } });
  await expect(client.patch(ref, { spec: { kubernetes: { kubeAPIServer: { eventTTL: "later" } } } })).rejects.toThrow(
    'spec.kubernetes.kubeAPIServer.eventTTL: "later" is not a duration',
  );
  await client.patch(ref, { spec: { kubernetes: { kubeAPIServer: { eventTTL: "2h" } } } });
});

/** Acts while the API server knows neither our webhooks nor the bounds of a Shoot's fields. */
async function withoutJudgement(act: () => Promise<void>): Promise<void> {
  const configurations = await Promise.all(webhooks.map((ref) => client.read(ref)));
  for (const ref of webhooks) await client.remove(ref);
  const crd = refTo(CustomResourceDefinition, { name: "shoots.core.gardener.cloud" });
  const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const version = { name: "v1beta1", served: true, storage: true, subresources: { status: {} } };
  await client.patch(crd, { spec: { versions: [{ ...version, schema: { openAPIV3Schema: open } }] } });
  await act();
  await applyCrds(client);
  for (const one of configurations) if (one) await client.apply({ ...one, metadata: { name: one.metadata.name } });
  await eventually(async () => {
    const wrong = { apiVersion: Shoot.apiVersion, kind: Shoot.kind, metadata: { name: "x", namespace: "garden-dev" } };
    const refusal = await client.create(wrong, { dryRun: true }).then(
      () => "",
      (error: unknown) => String(error),
    );
    return refusal.includes("spec");
  });
}
