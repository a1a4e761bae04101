import type {
  Bastion,
  Cluster,
  Condition,
  ContainerRuntime,
  ControlPlane,
  DNSRecord,
  Extension,
  ExtensionBackupBucket,
  ExtensionBackupEntry,
  Infrastructure,
  KubeObject,
  LastError,
  LastOperation,
  Leadership,
  Network,
  OperatingSystemConfig,
  SelfHostedShootExposure,
  Worker,
} from "../api/index.ts";

/** What every extension kind has, whatever it is for. */
export interface ExtensionObject extends KubeObject {
  readonly spec: {
    readonly type: string;
    readonly class?: string | undefined;
    readonly leadership?: Leadership | undefined;
  };
  readonly status?: ExtensionStatus | undefined;
}

/** The status fields common to all extension kinds (Gardener's `DefaultStatus`). */
export interface ExtensionStatus {
  readonly observedGeneration?: number | undefined;
  readonly lastOperation?: LastOperation | undefined;
  readonly lastError?: LastError | undefined;
  readonly conditions?: readonly Condition[] | undefined;
  readonly providerStatus?: unknown;
  readonly state?: unknown;
}

/** The kinds that an extension controller can handle, and the type of their objects. */
export interface ExtensionKinds {
  BackupBucket: ExtensionBackupBucket;
  BackupEntry: ExtensionBackupEntry;
  Bastion: Bastion;
  ContainerRuntime: ContainerRuntime;
  ControlPlane: ControlPlane;
  DNSRecord: DNSRecord;
  Extension: Extension;
  Infrastructure: Infrastructure;
  Network: Network;
  OperatingSystemConfig: OperatingSystemConfig;
  SelfHostedShootExposure: SelfHostedShootExposure;
  Worker: Worker;
}

/** The name of a kind that an extension controller can handle. */
export type ExtensionKind = keyof ExtensionKinds;

/** What an actuator of a kind is given as Cluster: none for cluster-scoped kinds, perhaps none for those that a garden or seed can have. */
export type ClusterFor<K extends ExtensionKind> = K extends "BackupBucket" | "BackupEntry"
  ? undefined
  : K extends "DNSRecord" | "Extension" | "SelfHostedShootExposure"
    ? Cluster | undefined
    : Cluster;

/** The API version of every extension kind. */
export const EXTENSIONS_API = "extensions.gardener.cloud/v1alpha1";

/** The finalizer that marks an object of this kind as having something to clean up, as Gardener names it. */
export function finalizerOf(kind: ExtensionKind): string {
  const name = kind === "OperatingSystemConfig" ? "operatingsystemconfigs" : kind.toLowerCase();
  return `extensions.gardener.cloud/${name}`;
}

/** Whether an object is of the type and class that a controller handles. */
export function isHandled(object: ExtensionObject, o: { type: string; class?: string }): boolean {
  return object.spec.type === o.type && (object.spec.class ?? "shoot") === (o.class ?? "shoot");
}
