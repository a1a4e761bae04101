import { CONFIRM_DELETION_ANNOTATION, OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION } from "../../api/annotations.ts";
import type { DNSRecord } from "../../api/index.ts";
import { isConflict, nextTimestamp, refOf, type KubeClient } from "../../kube/index.ts";
import { patchSeen } from "../objects/bound-writes.ts";

/**
 * Takes away the DNSRecord of an EndpointRecord that lives elsewhere, as Gardener hands one over (operation `migrate`): its extension lets
 * go of it first, and the name stays in the DNS. Each call takes the step that is next by what is there, and a watch
 * brings the one after it: so it goes on wherever a process has died.
 */
export async function handOver(client: KubeClient, existing: DNSRecord): Promise<void> {
  const { deletionTimestamp, annotations = {} } = existing.metadata;
  if (deletionTimestamp !== undefined) return; // others have asked for the name to go
  if (!isHeld(existing)) return await removeUnheld(client, existing);
  if (annotations[OPERATION_ANNOTATION] === "migrate") return;
  const asked = { [OPERATION_ANNOTATION]: "migrate", [TIMESTAMP_ANNOTATION]: nextTimestamp(existing) };
  await patchSeen(client, existing, { metadata: { annotations: asked } });
}

/** Whether an extension acts on a DNSRecord: it has a finalizer before it touches the DNS, and lets go of it at the end of a `migrate`. */
export const isHeld = ({ metadata }: DNSRecord): boolean => (metadata.finalizers ?? []).length > 0;

/** Whether a DNSRecord is on its way to another cluster, or was; it answers to no `reconcile` from then on. */
export const isHandedOver = ({ metadata, status }: DNSRecord): boolean =>
  metadata.annotations?.[OPERATION_ANNOTATION] === "migrate" || status?.lastOperation?.type === "Migrate";

/** Only as it was seen: an extension that has taken it up meanwhile would take the name out of the DNS. */
async function removeUnheld(client: KubeClient, existing: DNSRecord): Promise<void> {
  const annotations = { [CONFIRM_DELETION_ANNOTATION]: "true" };
  const isConfirmed = existing.metadata.annotations?.[CONFIRM_DELETION_ANNOTATION] === "true";
  const confirmed = isConfirmed ? existing : await patchSeen(client, existing, { metadata: { annotations } });
  const { uid, resourceVersion } = confirmed?.metadata ?? {};
  if (confirmed === undefined || uid === undefined || resourceVersion === undefined) return;
  try {
    await client.remove(refOf(confirmed), { uid, resourceVersion });
  } catch (error) {
    if (!isConflict(error)) throw error; // the watch brings it as it is now
  }
}
