/** What differs between the webhooks of resource managers that change pods as they are made. */
export interface PodWebhook {
  /** The webhook's name, without upstream's domain. */
  readonly name: string;
  readonly namespaceSelector: object;
  readonly objectSelector: object;
  /** Where the resource manager answers: a Service of the same cluster, or a URL. */
  readonly server: object;
  /** PEM certificate that signs the resource manager's own. */
  readonly authority: string;
}

/** A webhook as upstream's component registers it: without its answer no pod that it selects is made. */
export function podWebhook({ name, namespaceSelector, objectSelector, server, authority }: PodWebhook) {
  return {
    name: `${name}.resources.gardener.cloud`,
    rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE"] }],
    namespaceSelector,
    objectSelector,
    clientConfig: { ...server, caBundle: Buffer.from(authority).toString("base64") },
    admissionReviewVersions: ["v1beta1", "v1"],
    failurePolicy: "Fail",
    matchPolicy: "Exact",
    sideEffects: "None",
    timeoutSeconds: 10,
  };
}

/** The two that are in use, by the paths that the resource manager serves. */
export const webhookPaths = {
  "projected-token-mount": "/webhooks/mount-projected-service-account-token",
  "system-components-config": "/webhooks/system-components-config",
} as const;

/** Where upstream's system components of a Shoot are. */
export const systemNamespaces: readonly string[] = ["kube-system", "kubernetes-dashboard"];
