import { CLUSTER_NAME_LABEL, ClusterEndpoint, ShootControlPlane, type Cluster } from "../../api/cluster-api/index.ts";
import { SURFACED_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { inWords, refOf, typeMeta } from "../../kube/index.ts";
import { ownerReference } from "../objects/owner-reference.ts";
import { endpointWriter, isController } from "./endpoint-writer.ts";
import { generatedLabels, type Origin } from "./generated.ts";
import type { ProviderPair } from "./provider-objects.ts";
import { asClusterEndpoint, completeEndpoint, isSameEndpoint, renderEndpoint, type Endpoint } from "./value.ts";

/** What taking over a Cluster that has an endpoint and no object makes, and what its owner should know. */
export interface Migration {
  /** Undefined where the Cluster's value is none that a ClusterEndpoint can hold. */
  readonly endpoint?: ClusterEndpoint;
  /** One for each field in use that ClusterEndpoints replace. */
  readonly warnings: readonly string[];
}

/**
 * The object for a Cluster that has an endpoint and no object: owned by the infrastructure if that carries the value, else by the
 * control plane if that does, else by the Cluster (the proposal of flexible endpoints). Undefined where the Cluster has no whole
 * endpoint, and where its control plane is a Shoot, which brings an object of its own: that may be away for a moment, as in a
 * `clusterctl move` that was killed. Pure.
 */
export function planMigration(cluster: Cluster, providers: ProviderPair): Migration | undefined {
  const present = completeEndpoint(cluster.spec.controlPlaneEndpoint);
  if (present === undefined) return undefined;
  const { owner, origin } = sourceOf(present, cluster, providers);
  if (origin === "provider" && cluster.spec.controlPlaneRef?.kind === ShootControlPlane.kind) return undefined;
  const value = asClusterEndpoint(present);
  const warnings = deprecations(cluster, providers, owner);
  if (value !== undefined) return { endpoint: endpointOf(cluster, value, owner, origin), warnings };
  const refusal = `${renderEndpoint(present)} of ${inWords(refOf(cluster))} is nothing that a ClusterEndpoint can hold: write one by hand`;
  return { warnings: [...warnings, refusal] };
}

interface Source {
  readonly owner: KubeObject;
  readonly origin: Origin;
}

/** A value that a ClusterEndpoint has surfaced before, or that a controller wrote, is none that a user wrote first. */
function sourceOf(value: Endpoint, cluster: Cluster, { infrastructure, controlPlane }: ProviderPair): Source {
  const carrier = [infrastructure, controlPlane].find((one) =>
    isSameEndpoint(completeEndpoint(one?.spec?.controlPlaneEndpoint), value),
  );
  if (carrier !== undefined) return { owner: carrier, origin: "provider" };
  const isLeft = SURFACED_LABEL in (cluster.metadata.labels ?? {}) || isController(endpointWriter(cluster));
  return { owner: cluster, origin: isLeft ? "provider" : "user" };
}

function endpointOf({ metadata }: Cluster, value: Endpoint, owner: KubeObject, origin: Origin): ClusterEndpoint {
  const { name, namespace } = metadata;
  return {
    ...typeMeta(ClusterEndpoint),
    metadata: {
      ...{ name, namespace },
      labels: { [CLUSTER_NAME_LABEL]: name, ...generatedLabels(origin, value) },
      ownerReferences: [ownerReference(owner)],
    },
    spec: { cluster: name, ...value, type: "ExternalControlPlaneEndpoint" },
  };
}

function deprecations(cluster: Cluster, { infrastructure, controlPlane }: ProviderPair, owner: KubeObject): string[] {
  const fields = [infrastructure, controlPlane].filter(
    (one) => completeEndpoint(one?.spec?.controlPlaneEndpoint) !== undefined,
  );
  return [...fields, ...(owner === cluster ? [cluster] : [])].flatMap((one) =>
    one === undefined
      ? []
      : [`spec.controlPlaneEndpoint of ${inWords(refOf(one))} is deprecated: its writer should make a ClusterEndpoint`],
  );
}
