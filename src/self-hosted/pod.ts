import type { KubeObject } from "../api/index.ts";
import type { Refuse } from "./refusal.ts";

/** The spec of a pod, as far as a translation reads it; everything else in it stays as it is. */
export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly hostAliases?: readonly { readonly ip: string; readonly hostnames?: readonly string[] }[];
  readonly dnsPolicy?: string;
  readonly [field: string]: unknown;
}

/** A container of a pod, as far as a translation reads it. */
export interface Container {
  readonly name: string;
  readonly env?: readonly EnvironmentVariable[];
  readonly envFrom?: readonly EnvironmentSource[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly [field: string]: unknown;
}

/** A variable of a container: with a value, or the place of one. */
export interface EnvironmentVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly configMapKeyRef?: KeyReference;
    readonly fieldRef?: { readonly fieldPath: string; readonly apiVersion?: string };
    readonly [source: string]: unknown;
  };
}

/** A key of a Secret or ConfigMap. */
export interface KeyReference extends Reference {
  readonly key: string;
}

/** A Secret or ConfigMap beside the workload; where it is optional, it may be missing. */
export interface Reference {
  readonly name: string;
  readonly optional?: boolean;
}

/** All keys of an object as variables. */
export interface EnvironmentSource {
  readonly prefix?: string;
  readonly configMapRef?: Reference;
  readonly secretRef?: Reference;
}

/** Where a container sees a volume. */
export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly [field: string]: unknown;
}

/** A volume of a pod, of whatever sort. */
export interface Volume {
  readonly name: string;
  readonly secret?: FilesOf & { readonly secretName: string };
  readonly configMap?: FilesOf & Reference;
  readonly projected?: { readonly defaultMode?: number; readonly sources?: readonly ProjectedSource[] };
  readonly [sort: string]: unknown;
}

/** One of the objects that a projected volume shows in one folder. */
export interface ProjectedSource {
  readonly secret?: FilesOf & Reference;
  readonly configMap?: FilesOf & Reference;
  readonly [sort: string]: unknown;
}

/** Which keys become files, where, and with which permissions. */
export interface FilesOf {
  readonly optional?: boolean;
  readonly defaultMode?: number;
  readonly items?: readonly { readonly key: string; readonly path: string; readonly mode?: number }[];
}

/** What a workload's pods are made from. */
export interface Template {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: PodSpec;
  /** Names of the volumes that each pod of a StatefulSet claims for itself. */
  readonly claims: readonly string[];
}

/** Reads the template of a Deployment or StatefulSet; refuses what is neither, or has no container. */
export function templateOf(workload: KubeObject, refuse: Refuse): Template {
  if (workload.kind !== "Deployment" && workload.kind !== "StatefulSet")
    return refuse("kind", `is ${workload.kind}`, "only Deployments and StatefulSets become static pods");
  const { template = {}, volumeClaimTemplates = [] } = (workload["spec"] ?? {}) as WorkloadSpec;
  const { spec, metadata: { labels = {}, annotations = {} } = {} } = template;
  if (!Array.isArray(spec?.containers) || spec.containers.length === 0)
    return refuse("spec.template.spec.containers", "has no container", "give it one");
  return { labels, annotations, spec, claims: volumeClaimTemplates.map(({ metadata: { name } }) => name) };
}

interface WorkloadSpec {
  readonly template?: {
    readonly metadata?: Partial<Pick<Template, "labels" | "annotations">>;
    readonly spec?: PodSpec;
  };
  readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
}
