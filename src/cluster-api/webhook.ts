import { clientConfig, type Endpoint, type Webhook } from "../admission/index.ts";
import type { KubeObject } from "../api/index.ts";
import type { ClusterApiDeps } from "./part.ts";

/** One webhook of this process: which requests of the management cluster it is asked about, and how it answers. */
export interface ClusterApiWebhook {
  /** Names it among the others: its path and the first label of its name. */
  readonly name: string;
  readonly kind: "Mutating" | "Validating";
  readonly group: string;
  /** The API server converts objects of other versions to this one. */
  readonly version: string;
  /** With the subresource where that is meant, such as `clusters/status`. */
  readonly resources: readonly string[];
  readonly operations: readonly string[];
  /** CEL: it is asked only where all of them hold. */
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
  /** What becomes of a request while this process does not answer. */
  readonly failurePolicy: "Fail" | "Ignore";
  create(deps: ClusterApiDeps): Webhook;
}

/** The objects that make the management cluster's API servers ask these webhooks. */
export function webhookConfigurations(
  webhooks: readonly ClusterApiWebhook[],
  o: { readonly caBundle: string } & Endpoint,
): KubeObject[] {
  return (["Mutating", "Validating"] as const)
    .map((kind) => ({
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: `${kind}WebhookConfiguration`,
      metadata: { name: "perennial-cluster-api" },
      webhooks: webhooks.filter((webhook) => webhook.kind === kind).map((webhook) => entry(webhook, o)),
    }))
    .filter(({ webhooks: entries }) => entries.length > 0);
}

/** Where a webhook is served. */
export const pathOf = ({ name }: Pick<ClusterApiWebhook, "name">): string => `/${name}`;

const entry = (webhook: ClusterApiWebhook, o: { readonly caBundle: string } & Endpoint) => ({
  name: `${webhook.name}.cluster-api.perennial.dev`,
  clientConfig: clientConfig(o, pathOf(webhook)),
  rules: [
    {
      apiGroups: [webhook.group],
      apiVersions: [webhook.version],
      resources: webhook.resources,
      operations: webhook.operations,
      scope: "Namespaced",
    },
  ],
  matchConditions: webhook.matchConditions ?? [],
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  failurePolicy: webhook.failurePolicy,
  matchPolicy: "Equivalent",
  timeoutSeconds: 10,
});
