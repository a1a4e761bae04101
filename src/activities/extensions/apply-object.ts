import { OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION } from "../../api/annotations.ts";
import type { ExtensionKind } from "../../api/extensions/kinds.ts";
import type { ShootExtension } from "../../api/extensions/lifecycle.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { nextTimestamp, type KubeClient } from "../../kube/index.ts";
import type { WaitTarget } from "../index.ts";
import type { ExtensionLike } from "../waits/readiness.ts";
import { readChangeable } from "./existing.ts";
import { targetOf } from "./target.ts";
import { needsTrigger, type TriggerRule } from "./trigger.ts";

/** In whose name an object is applied. */
export interface Application {
  readonly kind: ExtensionKind;
  /** A task annotation of the Shoot wants its controller to act. */
  readonly asked?: boolean;
  /** When the controller is asked to act; by its kind's rule unless told otherwise. */
  readonly asks?: TriggerRule;
  /** What registrations say of the Shoot's Extensions. */
  readonly extensions?: readonly ShootExtension[] | undefined;
  /** Annotations that are written together with the change, which tell who waits for it; none where that is this process. */
  readonly registration?: Registering;
}

/** Annotations for the wait for a target, and for the object of this uid where it is there already. */
export type Registering = (target: WaitTarget, uid: string | undefined) => Record<string, string>;

/** Applies an extension object, and asks its controller to act where that is due; answers with what there is to wait for. */
export async function applyExtensionObject(
  client: KubeClient,
  object: KubeObject,
  { kind, asked = false, asks = needsTrigger, extensions, registration = () => ({}) }: Application,
): Promise<WaitTarget> {
  const existing = await readChangeable(client, object);
  const before = existing?.metadata.annotations?.[TIMESTAMP_ANNOTATION];
  const triggers =
    asks({ kind, existing, asked }) || (await isNews(client, annotated(object, stampOf(before)), existing));
  const timestamp = triggers ? nextTimestamp(existing) : before;
  const target = targetOf(object, kind, { timestamp, extensions });
  const operation = triggers ? { [OPERATION_ANNOTATION]: "reconcile" } : {};
  const registered = registration(target, existing?.metadata.uid);
  await client.apply(annotated(object, { ...operation, ...stampOf(timestamp), ...registered }));
  return target;
}

/**
 * Whether applying the object leaves a spec that its controller has not seen. The API server says so best, in a dry run: it
 * also takes away what we wrote and do not write any more, and leaves alone what others own.
 */
async function isNews(client: KubeClient, object: KubeObject, existing: ExtensionLike | undefined): Promise<boolean> {
  const { metadata } = await client.apply(object, { dryRun: true });
  return metadata.generation !== existing?.status?.observedGeneration;
}

function annotated(object: KubeObject, more: Readonly<Record<string, string>>): KubeObject {
  const annotations = { ...object.metadata.annotations, ...more };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

const stampOf = (timestamp: string | undefined): Record<string, string> =>
  timestamp === undefined ? {} : { [TIMESTAMP_ANNOTATION]: timestamp };
