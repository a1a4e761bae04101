import { NAMESPACE_NAME_LABEL, NO_TOKEN_LABEL, ROLE_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/index.ts";
import { RESOURCE_MANAGER } from "./configuration.ts";
import { podWebhook, systemNamespaces, webhookPaths } from "./pod-webhook.ts";
import { SEED_NAMESPACE } from "./seed.ts";

/**
 * Has the seed's resource manager mount tokens into pods of extensions and control planes. Upstream's charts count on it:
 * their accounts say `automountServiceAccountToken: false`, and their pods say nothing. Selectors, path and policies are
 * upstream's; `authority` is the PEM certificate that signs the resource manager's own.
 */
export function tokenMountWebhook(authority: string): KubeObject {
  const path = webhookPaths["projected-token-mount"];
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: RESOURCE_MANAGER },
    webhooks: [
      podWebhook({
        name: "projected-token-mount",
        namespaceSelector: { matchExpressions: [isGardeners, isNoSystemNamespace] },
        objectSelector: mountsToken,
        server: { service: { namespace: SEED_NAMESPACE, name: RESOURCE_MANAGER, path } },
        authority,
      }),
    ],
  };
}

const isGardeners = { key: ROLE_LABEL, operator: "Exists" };

const isNoSystemNamespace = { key: NAMESPACE_NAME_LABEL, operator: "NotIn", values: systemNamespaces };

const refusesNoToken = { key: NO_TOKEN_LABEL, operator: "DoesNotExist" };

/** It cannot be asked before it runs. */
const isNotItself = { key: "app", operator: "NotIn", values: [RESOURCE_MANAGER] };

/** Pods that may get a token: all but those that refuse it, and those of resource managers. */
export const mountsToken = { matchExpressions: [refusesNoToken, isNotItself] };
