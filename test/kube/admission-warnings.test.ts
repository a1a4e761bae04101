import { expect } from "vitest";
import type { KubeObject, Shoot } from "../../src/api/index.ts";
import { createKubeClient, refOf } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { admissionTest as test, type AdmissionLab } from "../support/admission-lab.ts";
import { withChange } from "../support/changed-shoots/case.ts";
import { exampleObjects } from "../support/examples.ts";

test("a misspelt field is admitted with a warning that names it and the field that is meant", async ({
  admissionLab,
}) => {
  const warnings = await warningsOf(admissionLab, {
    "spec.foo": "bar",
    "spec.kubernetes.kubeApiServer": { eventTTL: "1h" },
    "spec.provider.workers[0].taint": [],
  });
  expect(warnings).toContain("spec.foo: unknown field, nothing acts on it");
  expect(warnings).toContain(
    "spec.kubernetes.kubeApiServer: unknown field (did you mean spec.kubernetes.kubeAPIServer?)",
  );
  expect(warnings).toContain("(did you mean spec.provider.workers[0].taints?)");
});

test("a field that nothing acts on is admitted with a warning that says what is so instead", async ({
  admissionLab,
}) => {
  const warnings = await warningsOf(admissionLab, {
    "spec.purpose": "production",
    "spec.hibernation.schedules": [{ start: "0 20 * * *" }],
    "spec.controlPlane.highAvailability.failureTolerance.type": "zone",
  });
  expect(warnings).toContain("spec.purpose: nothing acts on this field: control planes are alike for all purposes");
  expect(warnings).toContain("spec.hibernation.schedules: nothing acts on this field");
  expect(warnings).toContain("spec.controlPlane: nothing acts on this field: control planes have one replica");
});

test("a domain that the Seed cannot write records in is admitted with a warning that says what it needs", async ({
  admissionLab,
}) => {
  const needs = "is in no default domain of Seed seed-1: name a provider with its Secret in spec.dns.providers";
  expect(await warningsOf(admissionLab, { "spec.dns.domain": "a.example.com" })).toContain(needs);
  const providers = {
    "spec.dns.domain": "a.example.com",
    "spec.dns.providers": [{ type: "local", secretName: "local" }],
  };
  expect(await warningsOf(admissionLab, providers)).not.toContain(needs);
});

test("the example Shoot is admitted without a word about its fields, with all their defaults", async ({
  admissionLab,
}) => {
  const warnings = await warningsOf(admissionLab, {});
  expect(warnings).not.toMatch(/nothing acts on|default domain/);
  expect(warnings).toContain("no ControllerRegistration is in charge"); // the lab has none: warnings do arrive
});

test("a misspelt field of any kind that users write is admitted with a warning, and written", async ({
  admissionLab,
}) => {
  const core = "core.gardener.cloud/v1beta1";
  const metadata = { name: "misspelt" };
  const objects: readonly [KubeObject, string][] = [
    [
      { apiVersion: core, kind: "ControllerRegistration", metadata, spec: { deploymnet: {} } },
      "spec.deploymnet: unknown field (did you mean spec.deployment?)",
    ],
    [
      {
        ...{ apiVersion: core, kind: "Quota", metadata: { ...metadata, namespace: "garden-dev" } },
        spec: { clusterLifetimeDais: 1, metrics: {}, scope: { apiVersion: core, kind: "Project" } },
      },
      "spec.clusterLifetimeDais: unknown field (did you mean spec.clusterLifetimeDays?)",
    ],
    [
      { apiVersion: core, kind: "ExposureClass", metadata, handler: "a", schedulin: {} },
      "schedulin: unknown field (did you mean scheduling?)",
    ],
  ];
  const told: string[] = [];
  const onWarning = (text: string) => void told.push(text);
  const client = createKubeClient({ file: admissionLab.kubeconfig }, { onWarning });
  try {
    for (const [object] of objects) expect(await client.apply(object)).toMatchObject(object);
    for (const [index, [, warning]] of objects.entries()) expect(told[index]).toContain(warning);
    for (const [object] of objects) await client.patch(refOf(object), { metadata: { labels: { a: "b" } } });
    expect(told).toHaveLength(objects.length); // nothing but the metadata changed
  } finally {
    await client.close();
  }
});

test("an annotation of Gardener on which nothing acts is admitted with a warning, also when nothing else of a Shoot changes", async ({
  admissionLab,
}) => {
  const told: string[] = [];
  const client = createKubeClient({ file: admissionLab.kubeconfig }, { onWarning: (text) => void told.push(text) });
  const example = (await exampleObjects()).find(({ kind }) => kind === "Shoot") as Shoot;
  const metadata = { name: "annotated", namespace: "garden-dev" };
  try {
    const shoot = await client.create(withChange({ ...example, metadata }, { "spec.dns": undefined }));
    const before = told.length;
    const annotations = {
      "shoot.gardener.cloud/skip-readiness": "true",
      "confirmation.gardener.cloud/deletion": "true",
    };
    await client.patch(refOf(shoot), { metadata: { annotations } });
    expect(told.slice(before)).toEqual([
      "metadata.annotations[shoot.gardener.cloud/skip-readiness]: nothing acts on this annotation, unless an extension does",
    ]);
    await client.patch(refOf(shoot), { metadata: { finalizers: null } });
    await client.remove(refOf(shoot));
  } finally {
    await client.close();
  }
});

test("an extension that is switched off in GEP-1's words is switched off", async ({ admissionLab: { client } }) => {
  const example = (await exampleObjects()).find(({ kind }) => kind === "Shoot") as Shoot;
  const extensions = [
    { type: "off", enabled: false },
    { type: "on", enabled: true, providerConfig: { a: 1 } },
    { type: "neither", disabled: true },
  ];
  const metadata = { name: "switched", namespace: "garden-dev" };
  const shoot = withChange({ ...example, metadata }, { "spec.dns": undefined, "spec.extensions": extensions });
  expect((await client.create(shoot, { dryRun: true })).spec.extensions).toEqual([
    { type: "off", disabled: true },
    { type: "on", providerConfig: { a: 1 } },
    { type: "neither", disabled: true },
  ]);
});

/** All that the API server warns of when a changed example is created. */
async function warningsOf(
  { kubeconfig: file }: AdmissionLab,
  change: Readonly<Record<string, unknown>>,
): Promise<string> {
  const example = (await exampleObjects()).find(({ kind }) => kind === "Shoot") as Shoot;
  const metadata = { name: "warned", namespace: "garden-dev" };
  const shoot = withChange({ ...example, metadata }, { "spec.dns.domain": "warned.dev.perennial.test", ...change });
  const lines: string[] = [];
  const log = createLogger({ name: "test", level: "warn", destination: { write: (line) => void lines.push(line) } });
  const client = createKubeClient({ file }, { log });
  try {
    await client.create(shoot, { dryRun: true });
  } finally {
    await client.close();
  }
  return lines.join("");
}
