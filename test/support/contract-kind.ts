import { CLUSTERCTL_LABEL } from "../../src/api/cluster-api/index.ts";
import type { KubeObject } from "../../src/api/index.ts";

/** The definition of a kind of a provider, by contract v1beta2, which takes any content: what a test plays a provider with. */
export function contractKind(provider: "controlplane" | "infrastructure", kind: string): KubeObject {
  const plural = `${kind.toLowerCase()}s`;
  const group = `${provider}.cluster.x-k8s.io`;
  const open = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${group}`,
      labels: { "cluster.x-k8s.io/v1beta2": "v1alpha1", [CLUSTERCTL_LABEL]: "" },
    },
    spec: {
      group,
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      scope: "Namespaced",
      versions: [
        {
          name: "v1alpha1",
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: "object", properties: { spec: open, status: open } } },
        },
      ],
    },
  };
}
