import { CREATED_BY_ANNOTATION } from "../api/annotations.ts";
import type { ObjectMeta } from "../api/index.ts";
import type { JsonPatchOperation } from "../kube/index.ts";
import type { AdmissionRequest } from "./review.ts";

/**
 * Writes into a new object who creates it, whatever the request says of that itself (Gardener: plugins ShootMutator and
 * BastionValidator). Policy `perennial-reserved-keys` keeps it from then on.
 */
export function creatorPatch({ operation, object, userInfo }: AdmissionRequest): JsonPatchOperation[] {
  if (operation !== "CREATE" || !object || !userInfo.username) return [];
  const annotations = { ...annotationsOf(object), [CREATED_BY_ANNOTATION]: userInfo.username };
  return [{ op: "add", path: "/metadata/annotations", value: annotations }];
}

/** The annotations of an object that an API server asks about, whether or not it has the form that it should. */
export const annotationsOf = ({
  metadata,
}: {
  readonly metadata?: ObjectMeta | null;
}): Readonly<Record<string, string>> => metadata?.annotations ?? {};
