import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { Shoot } from "../../src/api/index.ts";
import { refTo } from "../../src/kube/index.ts";
import { ownAdmissionTest as test, refusalOf, type AdmissionLab } from "../support/admission-lab.ts";
import { startCalicoAdmission } from "../support/calico-admission.ts";
import type { Child } from "../support/child.ts";
import { eventually } from "../support/eventually.ts";
import { exampleObjects } from "../support/examples.ts";

/**
 * The admission of upstream's networking-calico as it is published, in a garden of ours: its webhook is registered by the
 * program itself, and selects Shoots by the label that our admission gives them.
 */
let lab: AdmissionLab;
let example: Shoot;
let directory: string;
let admission: Child;

test.beforeAll(async ({ admissionLab, cluster }) => {
  lab = admissionLab;
  example = (await exampleObjects()).find(({ kind }) => kind === "Shoot") as Shoot;
  directory = await mkdtemp(join(tmpdir(), "perennial-upstream-"));
  admission = await startCalicoAdmission(directory, cluster);
  // An API server goes by a registration a moment after it has stored it.
  await eventually(async () => expect(await refusalOf(create("asked", wrong, true))).toContain("admission-calico"));
});
test.afterAll(async () => {
  await admission.kill();
  await rm(directory, { recursive: true });
});

const namespace = "garden-dev";
const ref = (name: string) => refTo(Shoot, { namespace, name });
const configOf = (fields: object) => ({
  apiVersion: "calico.networking.extensions.gardener.cloud/v1alpha1",
  kind: "NetworkConfig",
  ...fields,
});
const wrong = configOf({ backend: "pigeons" });
const refusal =
  'spec.networking.providerConfig.backend: Invalid value: "pigeons": unsupported value "pigeons" for backend, ' +
  'supported values are ["bird", "none", "vxlan"]';

function create(name: string, providerConfig: unknown, dryRun = false, type = "calico"): Promise<Shoot> {
  const { spec } = example;
  const changed = { ...spec, dns: undefined, networking: { ...spec.networking, type, providerConfig } };
  return lab.client.create<Shoot>({ ...example, metadata: { name, namespace }, spec: changed } as Shoot, { dryRun });
}

test("a Shoot with a configuration that Calico understands is admitted as its author wrote it", async () => {
  const config = configOf({ backend: "bird", ipv4: { mode: "Always" }, typha: { enabled: false } });
  const { spec, metadata } = await create("right", config);
  expect(spec.networking?.providerConfig).toEqual(config);
  expect(metadata.labels).toMatchObject({ "networking.extensions.gardener.cloud/calico": "true" });
});

test("a Shoot with one that it does not understand is refused with Calico's words, new or changed", async () => {
  expect(await refusalOf(create("wrong", wrong))).toContain(refusal);
  await create("changed", undefined);
  const patch = { spec: { networking: { providerConfig: wrong } } };
  expect(await refusalOf(lab.client.patch(ref("changed"), patch))).toContain(refusal);
  expect((await lab.client.read(ref("changed")))?.spec.networking?.providerConfig).toBeUndefined();
});

test("a misspelt field of the configuration is refused by name", async () => {
  expect(await refusalOf(create("misspelt", configOf({ bakend: "bird" })))).toContain('unknown field "bakend"');
});

test("kube-proxy is needed unless Calico's own data plane is there", async () => {
  await create("proxied", undefined);
  const off = (providerConfig?: object) => ({
    spec: { kubernetes: { kubeProxy: { enabled: false } }, networking: { providerConfig } },
  });
  const refused = await refusalOf(lab.client.patch(ref("proxied"), off()));
  expect(refused).toContain("Disabling kube-proxy is forbidden in conjunction with calico");
});

test("a user who takes the label away gets no wrong configuration past the webhook", async () => {
  await create("unlabelled", undefined);
  const labels = { "networking.extensions.gardener.cloud/calico": null };
  await lab.client.patch(ref("unlabelled"), { metadata: { labels } });
  expect(
    await refusalOf(lab.client.patch(ref("unlabelled"), { spec: { networking: { providerConfig: wrong } } })),
  ).toContain(refusal);
});

test("Shoots of other networks are not its concern", async () => {
  expect(await refusalOf(create("other", wrong, false, "local"))).toBe(false);
});

// The last: the admission is gone after it.
test("without it no Shoot of Calico's is made or changed, and all others are", async () => {
  await admission.kill();
  expect(await refusalOf(create("alone", undefined))).toContain("failed calling webhook");
  expect(await refusalOf(create("independent", undefined, false, "local"))).toBe(false);
});
