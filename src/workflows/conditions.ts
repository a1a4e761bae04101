import type { ShootRun } from "../api/shoot/run.ts";
import type { Condition } from "../flow/flow.ts";

const when = (text: string, holds: (run: ShootRun) => boolean): Condition<ShootRun> => ({ text, holds });

/** The Shoot has machines of its own. */
export const hasWorkers = when("the Shoot has workers", (run) => !run.workerless);

/** The Shoot is not hibernated. */
export const awake = when("the Shoot is awake", (run) => !run.hibernated);

/** The Shoot is to hibernate, and its control plane still runs. */
export const fallsAsleep = when("the Shoot falls asleep", (run) => run.hibernated && run.fallsAsleep === true);

/** Neither a user nor a change has asked for the operation: what has succeeded is only repeated. */
export const isPeriodic = when("the operation is periodic", (run) => run.periodic === true);

/** The Shoot names credentials for its provider. */
export const hasCredentials = when("the Shoot has provider credentials", (run) => run.hasCredentials);

/** The seed's domain for control planes is known. */
export const hasInternalDomain = when("there is an internal domain", (run) => run.hasInternalDomain);

/** The Shoot has a domain for its users. */
export const hasExternalDomain = when("the Shoot has a DNS domain", (run) => run.hasExternalDomain);

/** The namespace in the seed exists and is not being deleted. */
export const namespaceUsable = when("the namespace in the seed is usable", (run) => run.namespaceUsable);

/** The user's objects have to be, and can be, cleaned through the Shoot's own API server. */
export const canCleanResources = when("there is a control plane to clean up through", (run) => run.cleanable);

/** The provider's part of the control plane takes part in the clean-up. */
export const controlPlaneNeeded = when("the ControlPlane still acts", (run) => run.controlPlaneNeeded);

/** The garden has a domain for leadership records. */
export const hasLeadership = when("the garden has a leadership domain", (run) => run.leadershipRecord !== undefined);

/** The seed keeps backups. */
export const hasBackup = when("the Seed keeps backups", (run) => run.hasBackup);

/** A resource manager stands beside the control plane, for extensions that put things into the Shoot by ManagedResources. */
export const managesResources = when(
  "extensions of the Shoot write ManagedResources, or it or its Seed asks for a resource manager",
  (run) => run.managesResources === true,
);

/** The Shoot goes to another seed, rather than back to the one that it was about to leave. */
export const moved = when(
  "the Shoot comes from another Seed",
  ({ migration }) => migration !== undefined && !migration.returning,
);

/** A takeover was approved: the source is not asked for anything. */
export const takenOver = when("the Shoot is taken over", (run) => !sourceAnswers.holds(run));

/** The source takes part: no takeover was approved. */
export const sourceAnswers = when("the old Seed takes part", ({ migration }) => migration?.takeover !== true);
