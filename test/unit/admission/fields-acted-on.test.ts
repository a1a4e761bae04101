import { describe, expect, test } from "vitest";
import { deployDnsCredentials } from "../../../src/activities/control-plane/dns.ts";
import { unsupportedFields } from "../../../src/admission/shoot/unsupported.ts";
import { Shoot } from "../../../src/api/index.ts";
import { placementObstacles } from "../../../src/api/placement/choice.ts";
import { jsonSchemaOf } from "../../../src/api/schema/walk.ts";
import { ignoredFields } from "../../../src/api/shoot/ignored.ts";
import { shootSpec } from "../../../src/api/shoot/spec.ts";
import { dnsRecordObject } from "../../../src/components/index.ts";
import { withChange } from "../../support/changed-shoots/case.ts";
import { exampleContext, exampleShoot } from "../../support/control-plane-context.ts";
import { deployedObjects } from "../../support/deployed-objects.ts";
import { faultsOf } from "../../support/proofs.ts";
import { readySeed } from "../../support/migration-objects.ts";
import { leavesOf, samplesOf, withField, type Leaf } from "../../support/field-samples.ts";

const pool = "spec.provider.workers[0]";
/** A Shoot with one of everything that is in a list, so that each field has a place. */
const whole = withChange(exampleShoot(), {
  "spec.extensions": [{ type: "sample" }],
  "spec.kubernetes.kubeAPIServer.encryptionConfig": { resources: ["secrets"] },
  [`${pool}.cri`]: { name: "containerd", containerRuntimes: [{ type: "gvisor" }] },
  [`${pool}.taints`]: [{ key: "a", value: "b", effect: "NoSchedule" }],
  [`${pool}.volume`]: { size: "10Gi" },
  [`${pool}.dataVolumes`]: [{ name: "sample", size: "10Gi" }],
  [`${pool}.machine.image`]: { name: "local", version: "1.9.0" },
  "spec.tolerations": [{ key: "sample" }],
  "spec.accessRestrictions": [{ name: "sample" }],
  "spec.seedSelector": { matchExpressions: [{ key: "a", operator: "In", values: ["sample"] }] },
  "spec.dns": {
    domain: "a.example.com",
    providers: [
      {
        type: "rfc2136",
        primary: true,
        secretName: "sample",
        credentialsRef: { apiVersion: "v1", kind: "Secret", name: "sample" },
      },
    ],
  },
  "spec.resources": [{ name: "a", resourceRef: { apiVersion: "v1", kind: "Secret", name: "a" } }],
});
/** Another, whose pool has the Shoot's settings of kubelets, and which has a second provider of DNS. */
const plain = withChange(exampleShoot(), {
  [`${pool}.kubernetes`]: undefined,
  "spec.dns.providers": [
    { type: "rfc2136", secretName: "sample" },
    { type: "other", primary: true, secretName: "other" },
  ],
});
/** One whose only provider of DNS names its Secret the earlier way. */
const single = withChange(plain, { "spec.dns.providers": [{ type: "rfc2136", secretName: "sample" }] });

/** What follows of a Shoot besides deployed objects, by the fields that it follows from. */
const consequences: Readonly<Record<string, (shoot: Shoot) => unknown>> = {
  "spec.seedSelector": whyNoSeed,
  "spec.tolerations": whyNoSeed,
  "spec.accessRestrictions": whyNoSeed,
  "spec.dns": dnsOf,
};

/** Fields that controllers and other programs act on, and the tests that see them do so. */
const seen: Readonly<Record<string, string>> = {
  "spec.cloudProfile":
    '`test/kube/gardenadm/discover.test.ts`: "a project\'s own profile comes with the CloudProfile that it extends"',
  "spec.cloudProfileName":
    '`test/kube/admission.test.ts`: "what a Shoot leaves open is filled in from its CloudProfile and its Seed"',
  "spec.credentialsBindingName":
    '`test/kube/credentials.test.ts`: "the Secret that a SecretBinding names is copied into the seed, and one that is not there is named"',
  "spec.secretBindingName":
    '`test/kube/credentials.test.ts`: "the Secret that a SecretBinding names is copied into the seed, and one that is not there is named"',
  "spec.exposureClassName":
    '`test/kube/admission-garden.test.ts`: "a Shoot of an ExposureClass gets what the class asks of Seeds, and an unknown class is refused"',
  "spec.schedulerName":
    '`test/kube/scheduler.test.ts`: "a Shoot that asks for another scheduler, or is being deleted, is left alone"',
  "spec.seedName":
    '`test/kube/admission.test.ts`: "only a user who may update shoots/binding says on which Seed a Shoot runs"',
  "spec.resources":
    '`test/e2e/migrate-control-plane.test.ts`: "takes its Extensions along, with their state and what they refer to"',
  "spec.kubernetes.kubeAPIServer.encryptionConfig":
    '`test/kube/encryption.test.ts`: "resources that a Shoot adds are encrypted, and those that it takes away are in the clear again and can be read"',
  "spec.provider.workers[].controlPlane.backup":
    '`test/kube/gardenadm/backup-access.test.ts`: "a node that has only joined knows how the backups are reached, also once their credentials are others"',
  "spec.provider.workers[].controlPlane.exposure":
    '`test/kube/gardenadm/exposure.test.ts`: "an extension leads to the healthy nodes, the DNS to what it says, and neither is asked again where all is well"',
};

const leaves = leavesOf(jsonSchemaOf(shootSpec), "spec");
const fields = leaves.map(({ path }) => path);
const refused = unsupportedFields.map(({ path }) => `spec.${path}`);
const isWithin = (field: string, others: readonly string[]) =>
  others.some((other) => field === other || field.startsWith(`${other}.`) || field.startsWith(`${other}[`));
const left = leaves.filter(({ path }) => !isWithin(path, [...refused, ...Object.keys(ignoredFields)]));

test("no field is said to be ignored that the schema does not have, or that is refused", () => {
  const unknown = Object.keys(ignoredFields).filter((ignored) => !fields.some((field) => isWithin(field, [ignored])));
  expect(unknown).toEqual([]);
  expect(refused.filter((field) => isWithin(field, Object.keys(ignoredFields)))).toEqual([]);
});

describe("a field of a Shoot that is neither refused nor said to be ignored", () => {
  const [ofObjects, ofOthers] = [left, left].map((all, index) =>
    all.filter(({ path }) => isWithin(path, Object.keys(consequences)) === (index === 1)),
  );
  const unseen = (ofObjects ?? []).filter(({ path }) => !isWithin(path, Object.keys(seen)));

  test.each(unseen)("changes what is deployed: $path", async (leaf) => {
    expect(await Promise.all([whole, plain].map((shoot) => changes(shoot, leaf, deployedObjects)))).toContain(true);
  });

  test.each(ofOthers ?? [])("changes what follows: $path", async (leaf) => {
    const [, consequence = dnsOf] = Object.entries(consequences).find(([field]) => isWithin(leaf.path, [field])) ?? [];
    expect(await Promise.all([whole, plain, single].map((shoot) => changes(shoot, leaf, consequence)))).toContain(true);
  });

  test.each(Object.entries(seen))("is seen to act by a test, and deploys nothing: %s", async (field, proof) => {
    expect(faultsOf(proof)).toEqual([]);
    const below = left.filter(({ path }) => isWithin(path, [field]));
    expect(below.length).toBeGreaterThan(0);
    for (const leaf of below) expect(await changes(whole, leaf, deployedObjects), leaf.path).toBe(false);
  });
});

/** Whether what follows of a Shoot without the field, and with each of its values, is not all the same. */
async function changes(shoot: Shoot, { path, schema }: Leaf, consequence: (shoot: Shoot) => unknown): Promise<boolean> {
  const outcomes = new Set<string>();
  for (const value of [undefined, ...samplesOf(schema)])
    for (const outcome of await following(withField(shoot, path, value), consequence)) outcomes.add(outcome);
  return outcomes.size > 1;
}

/** Nothing where the Shoot is not well formed: a field that has to be there is taken away. */
async function following(shoot: Shoot, consequence: (shoot: Shoot) => unknown): Promise<string[]> {
  try {
    return [JSON.stringify(await consequence(Shoot.parse(shoot)))];
  } catch {
    return [];
  }
}

/** Why a Seed with a taint of two values and a label does not take the Shoot. */
function whyNoSeed(shoot: Shoot): unknown {
  const seed = readySeed("seed-1", new Date());
  const taints = ["sample", "other"].map((value) => ({ key: "sample", value }));
  return placementObstacles({
    shoot,
    seed: { ...seed, metadata: { name: "seed-1", labels: { a: "sample" } }, spec: { ...seed.spec, taints } },
  });
}

/** The DNSRecord of the Shoot's domain, and which Secret it is written with; or why there is none. */
async function dnsOf(shoot: Shoot): Promise<unknown> {
  const context = exampleContext({ shoot, externalDomain: shoot.spec.dns?.domain ?? "" });
  const read: string[] = [];
  const garden = { read: async (_: unknown, key: { name: string }) => (read.push(key.name), { data: {} }) };
  const seed = { apply: async (object: unknown) => object };
  try {
    const provider = await deployDnsCredentials(garden as never, seed as never, context, "external");
    return [read, dnsRecordObject(context, "external", provider)];
  } catch (error) {
    return [read, String(error)];
  }
}
