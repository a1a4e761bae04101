import { expect } from "vitest";
import type { KubeObject } from "../../src/api/index.ts";
import { isNotFound, refTo, type KubeClient } from "../../src/kube/index.ts";
import { admissionInForce } from "../support/admission-in-force.ts";
import { extendingTest as test } from "../support/cluster-test.ts";
import { installWidgets } from "../support/widget.ts";

const admission = "admissionregistration.k8s.io/v1";
const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps", "secrets"] }];

const policy = [
  {
    ...{ apiVersion: admission, kind: "ValidatingAdmissionPolicy", metadata: { name: "refusing" } },
    spec: { matchConstraints: { resourceRules: rules }, validations: [{ expression: "object.kind != 'Secret'" }] },
  },
  {
    ...{ apiVersion: admission, kind: "ValidatingAdmissionPolicyBinding", metadata: { name: "refusing" } },
    spec: { policyName: "refusing", validationActions: ["Deny"] },
  },
];

/** It matches ConfigMaps of one label, and nothing answers. */
const webhookOf = (kind: string, label: string): KubeObject & { readonly webhooks: readonly object[] } => ({
  ...{ apiVersion: admission, kind, metadata: { name: label } },
  webhooks: [
    {
      name: `${label}.perennial.test`,
      ...{ rules, sideEffects: "None", admissionReviewVersions: ["v1"], timeoutSeconds: 1 },
      ...{ clientConfig: { url: "https://127.0.0.1:1" }, objectSelector: { matchLabels: { [label]: "" } } },
    },
  ],
});

const creations = ({ create }: KubeClient): Promise<unknown>[] =>
  [
    { kind: "ConfigMap", labels: { mutating: "" } },
    { kind: "ConfigMap", labels: { validating: "" } },
    { kind: "Secret", labels: {} },
  ].map(({ kind, labels }) =>
    create({ apiVersion: "v1", kind, metadata: { name: "tried", namespace: "default", labels } }, { dryRun: true }),
  );

test("the shared cluster forgets the kinds, webhooks and policies that a file has added", async ({ shared }) => {
  const { client } = shared.cluster;
  await shared.begin();
  await installWidgets(client);
  for (const object of policy) await client.apply(object);
  await client.apply(webhookOf("MutatingWebhookConfiguration", "mutating"));
  await client.apply(webhookOf("ValidatingWebhookConfiguration", "validating"));
  await admissionInForce(client, ["mutation", "validation", "policy"]);
  const before = await Promise.allSettled(creations(client));
  expect(before.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);

  await shared.end({ forgets: true });

  await Promise.all(creations(client));
  await expect(client.get("/apis/test.perennial.dev")).rejects.toSatisfy(isNotFound);
  await shared.begin();
});

test("a file that adds a policy unannounced needs a cluster of its own, and the next file finds none", async ({
  shared,
}) => {
  const { client } = shared.cluster;
  for (const object of policy) await client.apply(object);
  await expect(shared.end({ forgets: false })).rejects.toThrow("this file needs a cluster of its own, it changed");
  await shared.begin();
});

test("a file that removes a policy needs a cluster of its own, and the next file finds it", async ({ shared }) => {
  const { client } = shared.cluster;
  const ref = { apiVersion: admission, kind: "ValidatingAdmissionPolicy", name: "perennial-fence-epochs" };
  await client.remove(ref);
  await expect(shared.end({ forgets: true })).rejects.toThrow(`it changed /registry/validatingadmissionpolicies/`);
  await shared.begin();
  expect(await client.read(refTo({ apiVersion: admission, kind: ref.kind }, { name: ref.name }))).toBeDefined();
});
