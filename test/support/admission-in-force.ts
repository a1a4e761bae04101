import type { KubeObject } from "../../src/api/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { eventually } from "./eventually.ts";

/** The kinds of objects by which an API server judges requests. */
export type Judges = keyof typeof kinds;

/**
 * Resolves when the API server goes by its webhooks and policies as etcd has them now: by the new ones, and by none that has gone.
 *
 * It learns of the objects of a kind in the order of their changes. So it knows all of them when it goes by a probe that came
 * later: one which refuses objects that only this function asks it to create.
 */
export async function admissionInForce(client: KubeClient, judges: readonly Judges[]): Promise<void> {
  probes += 1;
  for (const judge of judges) {
    const name = `in-force-${judge}-${probes}`;
    for (const object of kinds[judge](name)) await client.apply(object);
    await eventually(async () => (await refusal(client, name)).includes(`${name}.perennial.test`));
  }
}

let probes = 0;

const LABEL = "perennial.test/probe";

async function refusal(client: KubeClient, name: string): Promise<string> {
  const metadata = { name, namespace: "default", labels: { [LABEL]: name } };
  const creation = client.create({ apiVersion: "v1", kind: "ConfigMap", metadata }, { dryRun: true });
  return await creation.then(() => "", String);
}

const kinds = {
  mutation: (name: string) => [webhook("MutatingWebhookConfiguration", name)],
  validation: (name: string) => [webhook("ValidatingWebhookConfiguration", name)],
  policy,
};

const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }];

const admission = "admissionregistration.k8s.io/v1";

/** A webhook that does not answer. */
function webhook(kind: string, name: string): KubeObject {
  const asked = {
    name: `${name}.perennial.test`,
    clientConfig: { url: "https://127.0.0.1:1" },
    objectSelector: { matchLabels: { [LABEL]: name } },
    ...{ rules, sideEffects: "None", admissionReviewVersions: ["v1"], failurePolicy: "Fail", timeoutSeconds: 1 },
  };
  return { apiVersion: admission, kind, metadata: { name }, ...{ webhooks: [asked] } };
}

/** A policy that refuses everything. */
function policy(name: string): KubeObject[] {
  const constraints = { objectSelector: { matchLabels: { [LABEL]: name } }, resourceRules: rules };
  const validations = [{ expression: "false", message: `${name}.perennial.test` }];
  const spec = { failurePolicy: "Fail", matchConstraints: constraints, validations };
  const binding = { policyName: name, validationActions: ["Deny"] };
  return [
    { apiVersion: admission, kind: "ValidatingAdmissionPolicy", metadata: { name }, ...{ spec } },
    { apiVersion: admission, kind: "ValidatingAdmissionPolicyBinding", metadata: { name }, ...{ spec: binding } },
  ];
}
