import type { ExtensionPhase } from "../api/extensions/lifecycle.ts";
import type { ShootRun } from "../api/shoot/run.ts";
import type { Condition } from "../flow/flow.ts";

const when = (text: string, holds: (run: ShootRun) => boolean): Condition<ShootRun> => ({ text, holds });

/** The Shoot has machines of its own. */
export const hasWorkers = when("the Shoot has workers", (run) => !run.workerless);

/** The Shoot is not hibernated. */
export const awake = when("the Shoot is awake", (run) => !run.hibernated);

/** The Shoot is to hibernate, whether it does already or not. */
export const asleep = when("the Shoot hibernates", (run) => run.hibernated);

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
  "extensions of the Shoot write ManagedResources, it or its Seed asks for a resource manager, or there is one still",
  (run) => run.managesResources === true,
);

/** There is a resource manager, and what asked for it does not do so any more. */
export const unasked = when(
  "nothing asks any more for the Shoot's resource manager",
  (run) => run.resourceManagerUnasked === true,
);

/** There is no resource manager, as far as is known, and nothing asks for one. */
export const managesNoResources = when("nothing asks for a resource manager", (run) => !managesResources.holds(run));

/** machine-controller-manager stands beside the control plane, and the Worker's controller tells it which machines to make. */
export const managesMachines = when(
  "machine-controller-manager makes the Shoot's machines",
  (run) => run.machineControllerManager === true,
);

/** The Shoot's API server reaches its nodes, pods and Services through a tunnel. */
export const hasTunnel = when(
  "the Shoot has workers, and neither it nor its Seed says that the Seed reaches them",
  (run) => run.tunnel === true,
);

/** The Shoot's API server reaches its nodes by itself. */
export const reachesNodes = when("the Seed reaches the Shoot's nodes", (run) => !run.workerless && run.tunnel !== true);

/** The Shoot's health says that data of an etcd are damaged or gone. */
export const etcdDamaged = when("data of an etcd are damaged", (run) => run.etcdDamaged === true);

/** The Shoot names Secrets and ConfigMaps for its extensions. */
export const hasReferences = when("the Shoot names resources", (run) => run.hasReferences === true);

/** Pools have container runtimes besides their own. */
export const hasContainerRuntimes = when(
  "the Shoot has container runtimes",
  (run) => run.hasContainerRuntimes === true,
);

const hasExtensions = (text: string, phase: ExtensionPhase): Condition<ShootRun> =>
  when(`the Shoot has Extensions ${text}`, ({ extensions = [] }) =>
    extensions.some(({ reconcile }) => reconcile === phase),
  );

/** Extensions of the Shoot act before there is an API server. */
export const hasExtensionsBeforeApiServer = hasExtensions("before its API server", "BeforeKubeAPIServer");

/** Extensions of the Shoot act once there is an API server. */
export const hasExtensionsAfterApiServer = hasExtensions("after its API server", "AfterKubeAPIServer");

/** Extensions of the Shoot act once there are machines. */
export const hasExtensionsAfterWorker = hasExtensions("after its Worker", "AfterWorker");

/** The Shoot goes to another seed, rather than back to the one that it was about to leave. */
export const moved = when(
  "the Shoot comes from another Seed",
  ({ migration }) => migration !== undefined && !migration.returning,
);

/** A takeover was approved: the source is not asked for anything. */
export const takenOver = when("the Shoot is taken over", (run) => !sourceAnswers.holds(run));

/** The source takes part: no takeover was approved. */
export const sourceAnswers = when("the old Seed takes part", ({ migration }) => migration?.takeover !== true);
