import { FORCE_DELETION_ANNOTATION } from "../annotations.ts";
import type { KubeObject } from "../schema/meta.ts";

/** Whether the Shoot is being deleted, and its owner accepts that infrastructure is left behind. */
export const isDeletedByForce = ({ metadata }: Pick<KubeObject, "metadata">): boolean =>
  metadata.deletionTimestamp !== undefined && metadata.annotations?.[FORCE_DELETION_ANNOTATION] === "true";
