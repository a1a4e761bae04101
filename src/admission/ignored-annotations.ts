import {
  CLEANUP_EXTENDED_APIS_GRACE_ANNOTATION,
  CLEANUP_KUBERNETES_RESOURCES_GRACE_ANNOTATION,
  CLEANUP_WEBHOOKS_GRACE_ANNOTATION,
  CONFIRM_DELETION_ANNOTATION,
  CREATED_BY_ANNOTATION,
  EMERGENCY_STOP_ANNOTATION,
  EXPIRATION_ANNOTATION,
  FORCE_DELETION_ANNOTATION,
  IGNORE_ANNOTATION,
  MAINTENANCE_OPERATION_ANNOTATION,
  OPERATION_ANNOTATION,
  SKIP_CLEANUP_ANNOTATION,
  TASKS_ANNOTATION,
} from "../api/annotations.ts";
import type { KubeObject } from "../api/index.ts";

/** The annotations of Gardener that something acts on, or that are refused where nothing does, by the kind that users write. */
const actedOn: Readonly<Record<string, readonly string[]>> = {
  Shoot: [
    ...[OPERATION_ANNOTATION, TASKS_ANNOTATION, MAINTENANCE_OPERATION_ANNOTATION, IGNORE_ANNOTATION],
    ...[CONFIRM_DELETION_ANNOTATION, FORCE_DELETION_ANNOTATION, EXPIRATION_ANNOTATION, CREATED_BY_ANNOTATION],
    ...[SKIP_CLEANUP_ANNOTATION, CLEANUP_WEBHOOKS_GRACE_ANNOTATION],
    ...[CLEANUP_EXTENDED_APIS_GRACE_ANNOTATION, CLEANUP_KUBERNETES_RESOURCES_GRACE_ANNOTATION],
  ],
  Seed: [EMERGENCY_STOP_ANNOTATION],
  Project: [],
  CloudProfile: [],
  NamespacedCloudProfile: [],
  ControllerRegistration: [],
  ControllerDeployment: [],
};

/**
 * Says of Gardener's annotations that are new or changed in an object that nothing acts on them. Extensions see Shoots, Seeds and CloudProfiles
 * whole, and may act on any: keys of theirs are passed over.
 */
export function annotationWarnings(
  kind: string,
  object: KubeObject | undefined,
  old: KubeObject | undefined,
): string[] {
  const known = actedOn[kind];
  if (known === undefined) return [];
  const before = annotationsOf(old);
  return Object.entries(annotationsOf(object))
    .filter(([key, value]) => isGardeners(key) && !known.includes(key) && before[key] !== value)
    .slice(0, mostNamed)
    .map(
      ([key]) =>
        `metadata.annotations[${key.slice(0, 150)}]: nothing acts on this annotation, unless an extension does`,
    );
}

const annotationsOf = (object: KubeObject | undefined): Readonly<Record<string, unknown>> =>
  object?.metadata?.annotations ?? {};

/** Whether a key is in Gardener's own domain; extensions have theirs below `extensions.gardener.cloud`. */
const isGardeners = (key: string): boolean =>
  /^([^/]+[.])?gardener[.]cloud(\/|$)/.test(key) && !/^([^/]+[.])?extensions[.]gardener[.]cloud(\/|$)/.test(key);

/** A warning is for people. */
const mostNamed = 5;
