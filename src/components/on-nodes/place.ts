import { CONTROL_PLANE_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/index.ts";
import { inHostNetwork } from "./host-phase.ts";

/**
 * Where what manages a cluster runs in it: on the host of its first node while there is no pod network, in the pod network from
 * then on.
 */
export type PodPlace = "host" | "pods";

/** A toleration of the taint that keeps all else off the nodes of a control plane. */
export const toleratesControlPlane = { key: CONTROL_PLANE_LABEL, operator: "Exists", effect: "NoSchedule" };

/**
 * The workload in its place; in the pod network it runs on nodes of the control plane only: a kubelet gets tokens for all pods of its
 * node, and those of what manages a cluster are as good as an administrator's.
 */
export function placed<T extends KubeObject>(object: T, place: PodPlace): T {
  if (place === "host") return inHostNetwork(object);
  if (object.kind !== "Deployment") return object;
  const { template, ...spec } = object["spec"] as { readonly template: { readonly spec: object } };
  const nodeSelector = { [CONTROL_PLANE_LABEL]: "" };
  const pod = { ...template.spec, nodeSelector, tolerations: [toleratesControlPlane] };
  return { ...object, spec: { ...spec, template: { ...template, spec: pod } } };
}
