import { NO_TOKEN_LABEL, ROLE_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/index.ts";
import { RESOURCE_MANAGER } from "./configuration.ts";
import { SEED_NAMESPACE } from "./seed.ts";

/**
 * Has the seed's resource manager mount tokens into pods of extensions and control planes. Upstream's charts count on it:
 * their accounts say `automountServiceAccountToken: false`, and their pods say nothing. Selectors, path and policies are
 * upstream's; `authority` is the PEM certificate that signs the resource manager's own.
 */
export function tokenMountWebhook(authority: string): KubeObject {
  const name = "projected-token-mount.resources.gardener.cloud";
  const service = {
    namespace: SEED_NAMESPACE,
    name: RESOURCE_MANAGER,
    path: "/webhooks/mount-projected-service-account-token",
  };
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: RESOURCE_MANAGER },
    webhooks: [
      {
        name,
        rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE"] }],
        namespaceSelector: { matchExpressions: [isGardeners, isNoSystemNamespace] },
        objectSelector: { matchExpressions: [refusesNoToken, isNotItself] },
        clientConfig: { service, caBundle: Buffer.from(authority).toString("base64") },
        admissionReviewVersions: ["v1beta1", "v1"],
        failurePolicy: "Fail",
        matchPolicy: "Exact",
        sideEffects: "None",
        timeoutSeconds: 10,
      },
    ],
  };
}

const isGardeners = { key: ROLE_LABEL, operator: "Exists" };

const isNoSystemNamespace = {
  key: "kubernetes.io/metadata.name",
  operator: "NotIn",
  values: ["kube-system", "kubernetes-dashboard"],
};

const refusesNoToken = { key: NO_TOKEN_LABEL, operator: "DoesNotExist" };

/** It cannot be asked before it runs. */
const isNotItself = { key: "app", operator: "NotIn", values: [RESOURCE_MANAGER] };
