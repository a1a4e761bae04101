import type { KubeObject } from "../../api/schema/meta.ts";

/**
 * The kind in which upstream's provider-local reserves the addresses of machines with Calico. Seeds here have another
 * network, and nothing reads the objects; without the kind, no Infrastructure would ever be ready.
 */
export const ipPools: KubeObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "ippools.crd.projectcalico.org" },
  spec: {
    group: "crd.projectcalico.org",
    names: { kind: "IPPool", listKind: "IPPoolList", plural: "ippools", singular: "ippool" },
    scope: "Cluster",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};
