/** What a caller asks an object's controller to do; the controller removes it. */
export const OPERATION_ANNOTATION = "gardener.cloud/operation";

/** When the operation was asked for (RFC 3339 with nanoseconds, UTC): the request's identity. */
export const TIMESTAMP_ANNOTATION = "gardener.cloud/timestamp";

/** Must be "true" before a protected object may be deleted. */
export const CONFIRM_DELETION_ANNOTATION = "confirmation.gardener.cloud/deletion";

/** Must be "true" for a deletion that leaves infrastructure behind. */
export const FORCE_DELETION_ANNOTATION = "confirmation.gardener.cloud/force-deletion";

/** Comma separated names of tasks that the next run of a Shoot's flow is to do. */
export const TASKS_ANNOTATION = "shoot.gardener.cloud/tasks";

/** "true" leaves a Shoot alone. */
export const IGNORE_ANNOTATION = "shoot.gardener.cloud/ignore";

/** "true" lets the next run skip its waits for readiness. */
export const SKIP_READINESS_ANNOTATION = "shoot.gardener.cloud/skip-readiness";

/** "true" deletes a Shoot without deleting the user's objects first. */
export const SKIP_CLEANUP_ANNOTATION = "shoot.gardener.cloud/skip-cleanup";

/** "true" on a Seed stops every operation of its Shoots. */
export const EMERGENCY_STOP_ANNOTATION = "shoot.gardener.cloud/emergency-stop-reconciliations";

/** The operation to run in the next maintenance time window. */
export const MAINTENANCE_OPERATION_ANNOTATION = "maintenance.gardener.cloud/operation";

/** Who created the object. */
export const CREATED_BY_ANNOTATION = "gardener.cloud/created-by";

/** The number of the leader under which our flows wrote an object; on a Namespace, the lowest one that may still write there. */
export const EPOCH_ANNOTATION = "perennial.dev/epoch";

/** On a Shoot's namespace in a seed: name of the TXT record that says which seed leads. */
export const LEADERSHIP_RECORD_ANNOTATION = "perennial.dev/leadership-record";

/** On a Shoot's namespace in a seed: the epoch that a planned migration hands over to; its flow stops the control plane. */
export const HANDOVER_ANNOTATION = "perennial.dev/handover";

/** "true" on a Shoot, together with its old seed's name: the migration that has begun is given up. */
export const CANCEL_MIGRATION_ANNOTATION = "perennial.dev/cancel-migration";

/** Approves a takeover from a seed that does not answer: JSON `{reason, by?, at?, sourceIsOff?}`. */
export const FORCE_TAKEOVER_ANNOTATION = "perennial.dev/force-takeover";

/** On a BackupEntry in a seed: files that its provider keeps, however old they are; names, separated by commas. */
export const KEPT_SNAPSHOTS_ANNOTATION = "perennial.dev/kept-snapshots";

/** On a ShootState: uid of the Shoot that it belongs to; also on a Shoot's namespace in a seed. */
export const SHOOT_UID_ANNOTATION = "shoot.gardener.cloud/uid";

/** On a ShootState: JSON list of the objects in which it goes on, because it is too large for one. */
export const STATE_PARTS_ANNOTATION = "perennial.dev/state-parts";

/** On a ShootState: ids of the keys under which what is in it is sealed, separated by commas. */
export const STATE_KEY_ANNOTATION = "perennial.dev/state-key";

/** On a ShootState: why what it holds is not the latest; a Shoot with this cannot be migrated. */
export const STATE_PROBLEM_ANNOTATION = "perennial.dev/state-problem";

/** On a ShootState: the epoch whose last look at the seed it holds; what a watch there says of that epoch, it takes no more. */
export const STATE_FINAL_ANNOTATION = "perennial.dev/state-final";

/** Label of the objects in which a ShootState goes on: the ShootState's name. */
export const STATE_PART_LABEL = "perennial.dev/part-of-state";

/** Label: the purpose of an object, such as `shoot` or `extension` on a namespace. */
export const ROLE_LABEL = "gardener.cloud/role";

/** Label: the project of a namespace in the garden. */
export const PROJECT_NAME_LABEL = "project.gardener.cloud/name";

/** Label: CustomResourceDefinitions of which objects need a confirmation to be deleted. */
export const DELETION_PROTECTED_LABEL = "gardener.cloud/deletion-protected";

/** Finalizer of the objects that our garden controllers and flows are in charge of. */
export const GARDENER_FINALIZER = "gardener";

/** Finalizer of a ShootState while a migration needs it. */
export const SHOOT_STATE_FINALIZER = "core.gardener.cloud/shootstate";
