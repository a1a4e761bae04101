import type { KubeObject } from "../../api/index.ts";
import { NO_CLEANUP_LABEL } from "../../api/labels.ts";
import type { ControlPlaneContext } from "../context.ts";

/** Which cluster the Shoot is, where programs in it look: a ConfigMap that nothing changes. Nothing while that is not known. */
export function clusterIdentity({ shoot }: ControlPlaneContext): KubeObject[] {
  const identity = shoot.status?.clusterIdentity;
  if (identity === undefined) return [];
  return [
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "cluster-identity", namespace: "kube-system", labels: { [NO_CLEANUP_LABEL]: "true" } },
      immutable: true,
      data: { "cluster-identity": identity, origin: "shoot" },
    },
  ];
}
