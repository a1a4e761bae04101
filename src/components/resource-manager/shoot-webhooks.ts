import { MANAGED_BY_LABEL, NAMESPACE_NAME_LABEL, NO_SYSTEM_COMPONENTS_CONFIG_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/index.ts";
import type { ControlPlaneContext } from "../context.ts";
import { RESOURCE_MANAGER } from "./configuration.ts";
import { podWebhook, systemNamespaces, webhookPaths } from "./pod-webhook.ts";
import { mountsToken } from "./token-mount-webhook.ts";

/** What registers the webhooks of a Shoot's resource manager in the Shoot: upstream's name. */
export const SHOOT_WEBHOOKS = `${RESOURCE_MANAGER}-shoot`;

/**
 * Has the Shoot's resource manager see the pods of the Shoot's system namespaces as they are made, by its Service beside
 * the API server: it mounts tokens, and has what extensions put there run on pools for system components. Selectors, paths
 * and policies are upstream's. None as long as the Shoot has no certificate authority.
 */
export function shootWebhooks({ namespace, authority }: ControlPlaneContext): KubeObject[] {
  if (authority === undefined) return [];
  const webhook = (name: keyof typeof webhookPaths, objectSelector: object) =>
    podWebhook({
      ...{ name, objectSelector, authority },
      namespaceSelector: { matchExpressions: [isSystemNamespace] },
      server: { url: `https://${RESOURCE_MANAGER}.${namespace}:443${webhookPaths[name]}` },
    });
  return [
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingWebhookConfiguration",
      metadata: { name: SHOOT_WEBHOOKS, labels: { app: RESOURCE_MANAGER } },
      webhooks: [
        webhook("projected-token-mount", { matchExpressions: [...mountsToken.matchExpressions, isNoStaticPod] }),
        webhook("system-components-config", {
          matchLabels: { [MANAGED_BY_LABEL]: "gardener" },
          matchExpressions: [{ key: NO_SYSTEM_COMPONENTS_CONFIG_LABEL, operator: "DoesNotExist" }, isNoStaticPod],
        }),
      ],
    },
  ];
}

const isSystemNamespace = { key: NAMESPACE_NAME_LABEL, operator: "In", values: systemNamespaces };

/** A static pod runs already when its API server hears of it. */
const isNoStaticPod = { key: "static-pod", operator: "NotIn", values: ["true"] };
