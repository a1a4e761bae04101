import { ZONES_ANNOTATION } from "../../api/annotations.ts";
import { HIGH_AVAILABILITY_LABEL, PURPOSE_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/index.ts";
import { poolsOf, type ControlPlaneContext } from "../context.ts";
import { namespaceAnnotations, namespaceLabels } from "../namespace.ts";

/** What the system components of others rely on in a Shoot: how its namespace for them is marked, and their priorities. */
export function systemGround(context: ControlPlaneContext): KubeObject[] {
  const zones = [
    ...new Set(
      poolsOf(context)
        .filter(takesSystemComponents)
        .flatMap((pool) => pool.zones ?? []),
    ),
  ].sort();
  // Where nodes carry the control plane, it is in this very namespace.
  const ofControlPlane =
    context.nodes === undefined ? {} : { labels: namespaceLabels(context), annotations: namespaceAnnotations(context) };
  return [
    {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: {
        name: "kube-system",
        labels: { ...ofControlPlane.labels, [PURPOSE_LABEL]: "kube-system", [HIGH_AVAILABILITY_LABEL]: "true" },
        annotations: { ...ofControlPlane.annotations, [ZONES_ANNOTATION]: zones.join(",") },
      },
    },
    ...[600, 700, 800, 900].map(priorityClass),
  ];
}

const takesSystemComponents = ({ systemComponents, maximum }: ReturnType<typeof poolsOf>[number]): boolean =>
  (systemComponents?.allow ?? true) && maximum > 0;

/** Above all pods of users, below those without which a node or the cluster is none (Gardener: docs/development/priority-classes.md). */
const priorityClass = (level: number): KubeObject => ({
  apiVersion: "scheduling.k8s.io/v1",
  kind: "PriorityClass",
  metadata: { name: `gardener-shoot-system-${level}` },
  value: 999_999_000 + level,
  description: "System components of a Shoot",
});
