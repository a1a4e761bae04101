import { SEED_PROVIDER_LABEL, SHOOT_PROVIDER_LABEL, WEBHOOK_TARGET_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/index.ts";
import type { ControlPlaneWebhook, MutatorName } from "./define.ts";

/** Where an API server finds a webhook: a Service of the cluster, or a URL; and who signed its certificate. */
export interface WebhookAddress {
  readonly caBundle: string;
  readonly url?: string;
  readonly service?: {
    readonly name: string;
    readonly namespace: string;
    readonly path: string;
    readonly port?: number;
  };
}

/**
 * What a seed is given so that it calls the webhook: for the namespaces of its provider, for what it changes and nothing
 * else. It fails closed: while the webhook does not answer, such objects are not written, and the flow's step waits.
 */
export function webhookConfiguration(
  webhook: ControlPlaneWebhook,
  { caBundle, ...address }: WebhookAddress,
): KubeObject {
  const { name, provider, mutate } = webhook;
  const names = Object.keys(mutate) as MutatorName[];
  const [label, value] =
    "shoot" in provider ? [SHOOT_PROVIDER_LABEL, provider.shoot] : [SEED_PROVIDER_LABEL, provider.seed];
  const common = {
    admissionReviewVersions: ["v1"],
    clientConfig: { ...address, caBundle: Buffer.from(caBundle).toString("base64") },
    failurePolicy: "Fail",
    matchPolicy: "Equivalent",
    namespaceSelector: { matchLabels: { [label]: value } },
    sideEffects: "None",
    timeoutSeconds: 10,
  };
  const labelled = { objectSelector: { matchLabels: { [WEBHOOK_TARGET_LABEL]: "true" } } };
  const webhooks = Object.entries(targets).flatMap(([target, { mutators, rule, selected }]) =>
    mutators.some((one) => names.includes(one))
      ? [{ ...common, ...(selected && labelled), name: `${target}.${name}.webhooks.local`, rules: [rule] }]
      : [],
  );
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: `${name}-controlplane` },
    webhooks,
  };
}

interface Target {
  readonly mutators: readonly MutatorName[];
  readonly rule: object;
  /** The objects have the label by which webhooks find them. */
  readonly selected: boolean;
}

const written = { operations: ["CREATE", "UPDATE"], scope: "Namespaced" };

const targets: Readonly<Record<string, Target>> = {
  deployments: {
    mutators: ["kube-apiserver", "kube-controller-manager", "kube-scheduler"],
    rule: { ...written, apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"] },
    selected: true,
  },
  services: {
    mutators: ["kube-apiserver-service"],
    rule: { ...written, apiGroups: [""], apiVersions: ["v1"], resources: ["services"] },
    selected: false,
  },
  statefulsets: {
    mutators: ["etcd-main", "etcd-events"],
    rule: { ...written, apiGroups: ["apps"], apiVersions: ["v1"], resources: ["statefulsets"] },
    selected: false,
  },
  operatingsystemconfigs: {
    mutators: ["operating-system-config"],
    rule: {
      ...written,
      apiGroups: ["extensions.gardener.cloud"],
      apiVersions: ["v1alpha1"],
      resources: ["operatingsystemconfigs"],
    },
    selected: true,
  },
};
