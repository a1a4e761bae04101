import type { TypeRef } from "../../api/schema/kind.ts";
import type { LabelSelector } from "../../api/schema/label-selector.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { omitUndefined } from "../../omit-undefined.ts";

/** A webhook of a Shoot's users, as far as it can refuse what nodes and system components need. */
export interface JudgedWebhook {
  readonly name: string;
  readonly failurePolicy?: string;
  readonly timeoutSeconds?: number;
  readonly namespaceSelector?: LabelSelector;
  readonly objectSelector?: LabelSelector;
  readonly rules?: readonly JudgedRule[];
}

/** The requests that a webhook is asked about, in any version: the API server converts them by default. */
export interface JudgedRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly operations?: readonly string[];
  readonly scope?: string;
}

/** A webhook configuration of either kind. */
export interface WebhookConfiguration extends KubeObject {
  readonly webhooks?: readonly JudgedWebhook[];
}

const admission = { apiVersion: "admissionregistration.k8s.io/v1" } as const;

/** The kinds of webhook configurations. */
export const webhookConfigurations: readonly TypeRef<WebhookConfiguration>[] = [
  { ...admission, kind: "ValidatingWebhookConfiguration" },
  { ...admission, kind: "MutatingWebhookConfiguration" },
];

/** Returns the part of a webhook that is judged: neither its address and certificate nor its conditions. */
export const toJudgedWebhook = (webhook: JudgedWebhook): JudgedWebhook => ({
  name: webhook.name,
  ...omitUndefined({
    failurePolicy: webhook.failurePolicy,
    timeoutSeconds: webhook.timeoutSeconds,
    namespaceSelector: webhook.namespaceSelector,
    objectSelector: webhook.objectSelector,
    rules: webhook.rules?.map(({ apiGroups, resources, operations, scope }) =>
      omitUndefined({ apiGroups, resources, operations, scope }),
    ),
  }),
});

/** Returns the part of a webhook configuration that is judged. */
export const toJudgedConfiguration = (configuration: WebhookConfiguration): WebhookConfiguration => {
  const { apiVersion, kind, metadata, webhooks = [] } = configuration;
  const { name, labels } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, ...omitUndefined({ labels }) },
    webhooks: webhooks.map(toJudgedWebhook),
  };
};
