import { CONFIRM_DELETION_ANNOTATION } from "../api/index.ts";
import { judge, type AdmissionRequest, type Cause, type Webhook } from "./review.ts";

/** Lets only those objects be deleted of which the deletion was confirmed before (Gardener: DeletionConfirmation). */
export const confirmDeletion: Webhook = async (request) => judge(unconfirmed(request));

/** Why the object may not be deleted yet: its deletion is not confirmed; the remedy names the object. */
export function unconfirmed({ oldObject, kind, name = "", namespace }: AdmissionRequest): Cause[] {
  const { annotations, deletionTimestamp } = oldObject?.metadata ?? {};
  if (deletionTimestamp !== undefined || annotations?.[CONFIRM_DELETION_ANNOTATION] === "true") return [];
  const place = namespace ? `-n ${namespace} ` : "";
  const resource = `${kind.kind.toLowerCase()}.${kind.group}`; // other groups may have a kind of the same name
  const confirmation = `kubectl ${place}annotate ${resource} ${name} ${CONFIRM_DELETION_ANNOTATION}=true --overwrite`;
  return [
    {
      field: `metadata.annotations[${CONFIRM_DELETION_ANNOTATION}]`,
      message: `must be "true" before the object can be deleted: ${confirmation}`,
      forbidden: true,
    },
  ];
}
