import type { ShootExtension } from "../extensions/lifecycle.ts";

/** Names a Shoot for good: the uid tells it from a later one of the same name. */
export interface ShootRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** What an operation does to a Shoot; the values of `status.lastOperation.type`. */
export type ShootOperation = "Create" | "Reconcile" | "Delete" | "Migrate" | "Restore";

/** A control plane's way from one seed to another, or back to the one that it was about to leave. */
export interface Migration {
  readonly source: string;
  readonly destination: string;
  /** An operator has approved it: the source is not asked for anything. */
  readonly takeover: boolean;
  /** The migration was cancelled before the flip: the Shoot is restored where it is, and both ends are that seed. */
  readonly returning?: true;
  /** When all of the zone's servers named the destination, RFC 3339; from then on the source's leases run out. */
  readonly since?: string;
}

/** The facts about a Shoot that decide which steps of a flow are done. Read once, when an operation begins. */
export interface ShootRun extends ShootRef {
  readonly operation: ShootOperation;
  /** Neither a user nor a change has asked for the operation: it repeats one that has succeeded, because that was a while ago. */
  readonly periodic?: boolean;
  readonly generation: number;
  /** Name of the Shoot's namespace in the seed, and of its `Cluster`. */
  readonly technicalID: string;
  readonly project: string;
  readonly seedName: string;
  readonly workerless: boolean;
  /** The Shoot is to sleep. */
  readonly hibernated: boolean;
  /** It is to, and does not yet: its control plane runs until its machines are gone. */
  readonly fallsAsleep?: boolean;
  readonly hasCredentials: boolean;
  readonly hasInternalDomain: boolean;
  readonly hasExternalDomain: boolean;
  readonly pools: readonly string[];
  /** The namespace in the seed is there and not terminating. */
  readonly namespaceUsable: boolean;
  /** The user's objects can be cleaned: there is, or can be again, a control plane to do it through. */
  readonly cleanable: boolean;
  /** Delete only: ControlPlane exists, is not being deleted, and its infrastructure has been built. */
  readonly controlPlaneNeeded: boolean;
  /** Delete only: the Shoot's owner accepts that infrastructure is left behind. */
  readonly forced?: true;
  /** The value of `shoot.gardener.cloud/tasks` when the operation began; what came later waits for the next one. */
  readonly tasks?: string;
  /** The number of the leader that this operation acts for: writes under it are refused once a later one has begun. */
  readonly epoch: number;
  /** How long, in seconds, a look at the leadership record allows to act. */
  readonly leaseSeconds: number;
  /** Name of the TXT record that says which seed leads; none where the garden has no domain for it. */
  readonly leadershipRecord?: string;
  /** Seconds for which resolvers may remember the API server's address. */
  readonly dnsTtl: number;
  /** Minutes between two snapshots of etcd; 10 for an operation that began before this could be said. */
  readonly snapshotMinutes?: number;
  /** Migrate and Restore only. */
  readonly migration?: Migration;
  /** The seed keeps backups of its Shoots. */
  readonly hasBackup: boolean;
  /** There is, or will be, a resource manager in the Shoot's control plane. */
  readonly managesResources?: true;
  /** Nothing asks for that resource manager any more: it goes when nothing is left that it manages. */
  readonly resourceManagerUnasked?: true;
  /** Its machines are made by machine-controller-manager, as the extension that the Worker is for expects. */
  readonly machineControllerManager?: true;
  /** Its API server reaches nodes, pods and Services through a tunnel; never so for an operation that began before this could be said. */
  readonly tunnel?: true;
  /** The Extensions that the Shoot has, and when each acts; none known to an operation that began before this could be said. */
  readonly extensions?: readonly ShootExtension[];
  /** Data of an etcd were found damaged or gone: the operation replaces them, once its seed has confirmed that. */
  readonly etcdDamaged?: true;
  /** The Shoot names Secrets and ConfigMaps for its extensions. */
  readonly hasReferences?: true;
  /** Pools of the Shoot have container runtimes besides their own. */
  readonly hasContainerRuntimes?: true;
  /** How long, in ms, a seed's worker may leave a step unanswered before the operation says so. */
  readonly seedDeadline: number;
  /** How long, in ms, a retryable error is retried inside its step before the step parks. */
  readonly retryDuration: number;
}

/** Whether the control plane runs no pods while the operation goes on. */
export const isAsleep = ({ hibernated, fallsAsleep }: Pick<ShootRun, "hibernated" | "fallsAsleep">): boolean =>
  hibernated && fallsAsleep !== true;

/** An error as users see it: one sentence, with codes from the closed list. */
export interface StepFailure {
  readonly message: string;
  readonly codes: readonly string[];
}

/**
 * A step as the outside sees it: `settled` had nothing to do, by a survey; `retrying` waits for its next attempt, `parked` for
 * a retry that an operator asks for.
 */
export interface StepProgress {
  readonly name: string;
  readonly state:
    "pending" | "running" | "retrying" | "parked" | "done" | "settled" | "skipped" | "failed" | "blocked" | "stopped";
  /** When the step entered this state, RFC 3339. */
  readonly since?: string;
  readonly error?: StepFailure;
  readonly attempt?: number;
}

/** An operation as the outside sees it, from the `progress` query of its workflow. Times are RFC 3339. */
export interface FlowProgress {
  readonly operation: ShootOperation;
  readonly title: string;
  readonly percent: number;
  readonly steps: readonly StepProgress[];
  readonly startedAt: string;
  readonly finishedAt?: string;
  /** The build of the garden's worker that it runs on; none where workers are not versioned. */
  readonly build?: string;
}
