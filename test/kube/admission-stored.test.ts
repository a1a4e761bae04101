import { expect } from "vitest";
import { TUNNEL_ANNOTATION } from "../../src/api/annotations.ts";
import { Shoot, type KubeObject } from "../../src/api/index.ts";
import { CustomResourceDefinition, refOf, refTo, type KubeClient } from "../../src/kube/index.ts";
import { ownAdmissionTest as test, refusalOf } from "../support/admission-lab.ts";
import { withChange } from "../support/changed-shoots/case.ts";
import { applyCrds } from "../support/crds.ts";
import { eventually } from "../support/eventually.ts";
import { exampleObjects } from "../support/examples.ts";
import { askedAbout, moreExamples } from "../support/garden-examples.ts";

// Shoots that an older version let in, when kinds had fewer bounds and admission fewer rules: this changes the definition of Shoots.

const confirmation = "confirmation.gardener.cloud/deletion";
const webhooks = ["Mutating", "Validating"].map((kind) => ({
  ...{ apiVersion: "admissionregistration.k8s.io/v1", kind: `${kind}WebhookConfiguration`, name: "perennial" },
}));
const finalizers = ["gardener"];
const wide = { list: Array.from({ length: 21_000 }, () => 1) };
const deep = JSON.parse(`${'{"a":'.repeat(150)}{}${"}".repeat(150)}`) as object;
const examples = [...(await exampleObjects()), ...moreExamples];
/** More than a request may bring, in values and in levels, of each kind of which deletions or annotations are judged. */
const overfull = [
  ...["Shoot", "ShootState"].map((kind) => ({ kind, name: "wide", excess: wide })),
  ...["Shoot", "ShootState", "Seed", "BackupBucket", "Project"].map((kind) => ({ kind, name: "deep", excess: deep })),
].map(({ kind, name, excess }): KubeObject => {
  const { metadata, ...example } = exampleOf(kind);
  const { namespace } = metadata;
  const spec = { ...(example["spec"] as object), unknown: excess };
  return { ...example, metadata: { name, ...(namespace && { namespace }), finalizers }, spec };
});
/** As many values, of each kind of which changes are judged. */
const shrinking = Object.keys(askedAbout)
  .filter((kind) => !["DomainReservation", "BackupBucket", "BackupEntry"].includes(kind)) // of which changes are not judged
  .map((kind): KubeObject => {
    const { metadata, ...example } = exampleOf(kind);
    const { namespace } = metadata;
    const content = "spec" in example ? { spec: { ...(example["spec"] as object), unknown: wide } } : { unknown: wide };
    return { ...example, metadata: { name: "shrinking", ...(namespace && { namespace }) }, ...content };
  });
let client: KubeClient;

test.beforeAll(async ({ admissionLab }) => {
  client = admissionLab.client;
  const broken = withChange(exampleOf("Shoot") as Shoot, {
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
    for (const object of [...overfull, ...shrinking]) await client.create(object);
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

test.each(overfull)("a $kind $metadata.name beyond what a request may bring can be deleted", async (object) => {
  const ref = refOf(object);
  await client.patch(ref, { metadata: { labels: { seen: "true" } } });
  if (object.kind === "Seed") await client.patch(ref, { metadata: { annotations: { [TUNNEL_ANNOTATION]: "true" } } });
  if (object.kind === "Shoot") await client.patch(ref, { status: { technicalID: "a" } }, { subresource: "status" });
  if (isConfirmed.has(object.kind)) {
    await expect(client.remove(ref)).rejects.toThrow('must be "true" before the object can be deleted');
    await client.patch(ref, { metadata: { annotations: { [confirmation]: "true" } } });
  }
  await client.remove(ref);
  await client.patch(ref, { metadata: { finalizers: [] } });
  expect(await client.read(ref)).toBeUndefined();
});

test.each(shrinking)("$kind: one beyond what a request may bring can be made smaller bit by bit", async (object) => {
  const less = { unknown: { list: wide.list.slice(100) } };
  const refusal = await refusalOf(client.patch(refOf(object), "spec" in object ? { spec: less } : less));
  expect(String(refusal)).not.toContain("than it was"); // what an example names may not be there
  const more = { unknown: { list: [...wide.list, 1] } };
  await expect(client.patch(refOf(object), "spec" in object ? { spec: more } : more)).rejects.toThrow(
    "more than the 20000 values that it may have: write a smaller object, or one that is no larger than it was",
  );
});

const isConfirmed: ReadonlySet<string> = new Set(["Shoot", "ShootState", "Project"]);

test("a Shoot of as much as a request may bring can be changed and deleted, and a larger one be made smaller", async () => {
  const namespace = "garden-dev";
  const list = Array.from({ length: 185 }, () => 1);
  const pools = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ ...pool, name: `p${n}`, providerConfig: { list } }));
  const { spec, ...example } = exampleOf("Shoot") as Shoot;
  const [pool] = spec.provider.workers ?? [];
  const large = await client.create({
    ...example,
    metadata: { name: "large", namespace },
    spec: { ...spec, dns: { domain: "large.example.com" }, provider: { ...spec.provider, workers: pools(95) } },
  } as Shoot);
  const ref = refOf(large);
  await client.patch(ref, { spec: { purpose: "testing" } });
  await client.patch(ref, { spec: { provider: { workers: pools(94) } } });
  await client.patch(ref, { metadata: { annotations: { [confirmation]: "true" } } });
  await client.remove(ref);
});

function exampleOf(kind: string): KubeObject {
  const example = examples.find((one) => one.kind === kind);
  return example ?? { apiVersion: Shoot.apiVersion, kind, metadata: { name: "", namespace: "garden-dev" } };
}

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
