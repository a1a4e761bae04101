/** Finalizer of the objects that our garden controllers and flows are in charge of. */
export const GARDENER_FINALIZER = "gardener";

/** Finalizer of a ShootState while a migration needs it. */
export const SHOOT_STATE_FINALIZER = "core.gardener.cloud/shootstate";

/** Finalizer that an extension controller puts on an object of this kind, which the caller gives as upstream's lower-case name. */
export const extensionFinalizer = (name: string): string => `extensions.gardener.cloud/${name}`;

/** The reporter of the Events that a seed's worker writes when it fences a Shoot. */
export const FENCE_CONTROLLER = "perennial.dev/fence";

/** The provisioner of the local environment's volumes. */
export const LOCAL_PROVISIONER = "perennial.dev/local";
