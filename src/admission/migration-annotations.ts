import { CANCEL_MIGRATION_ANNOTATION, FORCE_TAKEOVER_ANNOTATION, type KubeObject } from "../api/index.ts";
import { parseTakeover } from "../api/placement/takeover.ts";
import { now as timeOf, type JsonPatchOperation } from "../kube/index.ts";
import { annotationsOf } from "./creator.ts";
import type { AdmissionRequest } from "./review.ts";

/**
 * Writes into a new approval of a takeover who gave it, and when, whatever the request says of that itself; and takes
 * away what an earlier migration has left, so that the one which begins now is not called back or forced by it.
 */
export function migrationAnnotationPatch(request: AdmissionRequest, now: Date): JsonPatchOperation[] {
  const { object, oldObject, userInfo } = request;
  if (request.operation !== "UPDATE" || !object || !oldObject) return [];
  const [annotations, before] = [annotationsOf(object), annotationsOf(oldObject)];
  const stale = seedOf(object) !== seedOf(oldObject) ? migrationAnnotations : [];
  return migrationAnnotations.flatMap((name): JsonPatchOperation[] => {
    const value = annotations[name];
    const path = `/metadata/annotations/${name.replace("/", "~1")}`;
    if (value === undefined) return [];
    if (value === before[name]) return stale.includes(name) ? [{ op: "remove", path }] : [];
    const approval = name === FORCE_TAKEOVER_ANNOTATION ? parseTakeover(value) : undefined;
    if (!approval) return [];
    const signed = { ...approval, by: userInfo.username ?? "", at: timeOf(now) };
    return [{ op: "replace", path, value: JSON.stringify(signed) }];
  });
}

const migrationAnnotations: readonly string[] = [CANCEL_MIGRATION_ANNOTATION, FORCE_TAKEOVER_ANNOTATION];

const seedOf = (object: KubeObject): unknown => (object["spec"] as { seedName?: unknown } | undefined)?.seedName;
