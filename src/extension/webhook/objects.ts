import type { KubeObject } from "../../api/index.ts";

/** A Deployment or StatefulSet of a control plane, as far as webhooks change it. */
export interface ControlPlaneWorkload extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly template: { readonly metadata?: Metadata; readonly spec: PodSpec };
    /** Of a StatefulSet: the claims of its pods, which cannot change later. */
    readonly volumeClaimTemplates?: readonly VolumeClaim[];
    readonly [field: string]: unknown;
  };
}

interface Metadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** What a workload's pods are made of. */
export interface PodSpec {
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
  readonly [field: string]: unknown;
}

/** A container; `command` is its whole command line. */
export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly env?: readonly EnvironmentVariable[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly resources?: Readonly<Record<"requests" | "limits", Readonly<Record<string, string>> | undefined>>;
  readonly [field: string]: unknown;
}

/** A variable of a container's environment. */
export interface EnvironmentVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: object;
}

/** A volume of a pod; one further field says of what kind it is. */
export interface Volume {
  readonly name: string;
  readonly [kind: string]: unknown;
}

/** Where a container finds a volume. */
export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly readOnly?: boolean;
}

interface VolumeClaim {
  readonly metadata?: { readonly name?: string };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** A Service of a control plane. */
export interface ControlPlaneService extends KubeObject {
  readonly spec: Readonly<Record<string, unknown>>;
}
