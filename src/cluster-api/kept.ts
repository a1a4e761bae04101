import { PROJECT_NAMESPACE_ANNOTATION } from "../api/annotations.ts";
import {
  CONTROL_PLANE_AVAILABLE_CONDITION,
  DELETE_FOR_MOVE_ANNOTATION,
  PAUSED_ANNOTATION,
  type Cluster,
  type MachinePool,
} from "../api/cluster-api/index.ts";
import { SURFACED_LABEL } from "../api/labels.ts";
import { ENDPOINT_READY_CONDITION } from "../api/names.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import type { Namespace, Secret } from "../kube/index.ts";
import { LONGEST_FOREIGN } from "../kube/kubeconfig.ts";
import { omitUndefined } from "../omit-undefined.ts";

/**
 * What is remembered of a Cluster. A management cluster has thousands, each of several kB, and most are others' to look after: what a
 * controller is to read of one has to be named here.
 */
export function essentialCluster({ apiVersion, kind, metadata, spec, status }: Cluster): Cluster {
  const { name, namespace, uid, resourceVersion, generation, deletionTimestamp, labels, annotations } = metadata;
  const { paused, controlPlaneEndpoint, infrastructureRef, controlPlaneRef, topology } = spec;
  const conditions = status?.conditions?.filter(({ type }) => judgedBy.has(type)) ?? [];
  return {
    ...{ apiVersion, kind },
    metadata: {
      ...{ name, namespace, uid, resourceVersion, generation, deletionTimestamp },
      labels: only(labels, SURFACED_LABEL),
      annotations: only(annotations, PAUSED_ANNOTATION, DELETE_FOR_MOVE_ANNOTATION),
    },
    spec: {
      ...{ paused, controlPlaneEndpoint, infrastructureRef, controlPlaneRef },
      ...(topology && { topology: { classRef: topology.classRef, version: topology.version } }),
    },
    status: { initialization: status?.initialization, conditions },
  };
}

/** The conditions of a Cluster that a controller looks at. */
const judgedBy: ReadonlySet<string> = new Set([
  ENDPOINT_READY_CONDITION,
  CONTROL_PLANE_AVAILABLE_CONDITION,
  "InfrastructureReady",
]);

function only(texts: Readonly<Record<string, string>> = {}, ...keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.flatMap((key) => (texts[key] === undefined ? [] : [[key, texts[key]]])));
}

/** An object without what kubectl writes down for itself, which is as much again. */
export function withoutLastApplied<T extends KubeObject>(object: T): T {
  const { annotations } = object.metadata;
  if (annotations === undefined || !(LAST_APPLIED in annotations)) return object;
  const { [LAST_APPLIED]: _, ...kept } = annotations;
  return { ...object, metadata: { ...object.metadata, annotations: kept } };
}

/** A MachinePool without its Nodes, which are core's to count. */
export function withoutNodes({ status, ...pool }: MachinePool): MachinePool {
  const { nodeRefs: _, ...kept } = status ?? {};
  return withoutLastApplied({ ...pool, ...(status && { status: kept }) });
}

/** Of a Namespace, its name and which project it may use. */
export function essentialNamespace({ apiVersion, kind, metadata }: Namespace): Namespace {
  const { name, uid, resourceVersion, annotations } = metadata;
  const kept = only(annotations, PROJECT_NAMESPACE_ANNOTATION);
  return { apiVersion, kind, metadata: { name, ...omitUndefined({ uid, resourceVersion }), annotations: kept } };
}

/** The project namespace that a Namespace is annotated with. */
export const projectIn = ({ metadata }: Namespace): string | undefined =>
  metadata.annotations?.[PROJECT_NAMESPACE_ANNOTATION];

/** Of a Secret with a Shoot's kubeconfig, that alone, unless it is longer than any that is used: users of projects write such Secrets, too. */
export function onlyKubeconfig(secret: Secret): Secret {
  const { kubeconfig = "" } = secret.data ?? {};
  const isUsable = kubeconfig !== "" && kubeconfig.length <= LONGEST_ENCODED;
  return { ...nameOnly(secret), ...(isUsable && { data: { kubeconfig } }) };
}

/** In characters of base64. */
const LONGEST_ENCODED = Math.ceil(LONGEST_FOREIGN / 3) * 4;

/** Of a Secret, by what it is told from others and from its earlier self. */
export const nameOnly = ({
  apiVersion,
  kind,
  metadata: { name, namespace, uid, resourceVersion },
}: Secret): Secret => ({
  ...{ apiVersion, kind },
  metadata: { name, namespace, ...omitUndefined({ uid, resourceVersion }) },
});

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
