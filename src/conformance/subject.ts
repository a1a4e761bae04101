import type { ExtensionKind } from "../api/extensions/kinds.ts";
import type { KubeObject } from "../api/schema/meta.ts";

/** The controller on trial, and what has to be known of it. */
export interface Subject {
  readonly kind: ExtensionKind;
  readonly type: string;
  /** `spec.providerConfig` of the objects that it is given. */
  readonly providerConfig?: Fields;
  /** A `spec.providerConfig` with which it fails. */
  readonly failingConfig?: Fields;
  /** Fields of `spec` in place of the ones that the trial would choose. */
  readonly spec?: Fields;
  /** Fields of the Cluster's `spec`, laid over those that the trial would choose. */
  readonly cluster?: Fields;
  /** What it needs besides, such as the Secret `cloudprovider`: applied in each namespace of the trial. */
  readonly objects?: readonly KubeObject[];
  /** Kills the controller's process and starts it again; resolves when it was started. */
  readonly restart?: () => Promise<void>;
}

/** What was read from a file: the fields of an object. */
export type Fields = Readonly<Record<string, unknown>>;
