import { GARDENER_FINALIZER, type ObjectMeta, type Shoot } from "../api/index.ts";
import type { AdmissionRequest, Cause } from "./review.ts";

/** Whether a request takes our finalizer away from an object. */
export function losesFinalizer({ object, oldObject }: Pick<AdmissionRequest, "object" | "oldObject">): boolean {
  return hasFinalizer(oldObject) && !hasFinalizer(object);
}

/** What an API server asks about may not have the form that it should. */
function hasFinalizer(object: { readonly metadata?: ObjectMeta | null } | undefined): boolean {
  const finalizers: unknown = object?.metadata?.finalizers;
  return Array.isArray(finalizers) && finalizers.includes(GARDENER_FINALIZER);
}

/** Why a Shoot cannot lose its finalizer: what it has in its seed would be left behind (Gardener: plugin FinalizerRemoval). */
export function shootFinalizerCauses(request: AdmissionRequest, { status }: Shoot): Cause[] {
  const { lastOperation, technicalID } = status ?? {};
  if (!losesFinalizer(request) || technicalID === undefined || lastOperation === undefined) return [];
  if (lastOperation.type === "Delete" && lastOperation.state === "Succeeded") return [];
  const message = `${GARDENER_FINALIZER} cannot be removed before the Shoot's deletion has succeeded: delete the Shoot`;
  return [{ field: "metadata.finalizers", message, forbidden: true }];
}
