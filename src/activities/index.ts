import type { ShootOperation, ShootRef, ShootRun, StepFailure } from "../api/shoot/run.ts";
import type { ErrorCode } from "../api/error-codes.ts";
import type { ShootRequest } from "../api/requests.ts";
import type { AppliedKind, Purpose } from "../api/extensions/kinds.ts";
import type { ComponentName } from "../components/index.ts";

/** The activities, as workflows see them. Each is safe to repeat. */

/** What has to become true of an object. */
export type Until = "ready" | "gone" | "ended" | "rolledOut" | "addressed" | "completed" | "nodesReady" | "healthy";

/** One object, and what is waited for; durations are ms. */
export interface WaitTarget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
  readonly until: Until;
  /** The operation's id: the object has to carry exactly this `gardener.cloud/timestamp`. */
  readonly timestamp?: string;
  /** What the extension was asked for, where that is not to reconcile. */
  readonly asked?: "migrate" | "restore";
  /** The generation that was applied: an older version of the object says nothing. */
  readonly generation?: number;
  /** An error reported for longer than this ends the wait. */
  readonly severeAfter: number;
  /** The wait's end, error or not. */
  readonly deadline: number;
}

/** Something that may end a wait badly, or pass: a container that crashes, an image that cannot be had. */
export interface Trouble extends StepFailure {
  /** What has it, in the same words each time. */
  readonly about: string;
  readonly retryable: true;
}

/** What a survey has to know of a step: what it does in the seed, or what it waits for. */
export interface SurveyedAction {
  readonly verb: string;
  readonly component?: ComponentName;
  readonly kind?: AppliedKind;
  readonly purpose?: Purpose;
  readonly activity?: string;
  readonly then?: string;
  readonly targets?: readonly WaitTarget[];
}

/** The activities of queue `seed-<name>`. */
export interface SeedActivities {
  /** Names those of the steps that have nothing to change and nothing to wait for, as far as that can be known; changes nothing. */
  survey(run: ShootRun, steps: Readonly<Record<string, SurveyedAction>>): Promise<readonly string[]>;
  deployComponent(run: ShootRun, component: ComponentName, step: string): Promise<WaitTarget[]>;
  destroyComponent(run: ShootRun, component: ComponentName, step: string): Promise<WaitTarget[]>;
  applyExtension(run: ShootRun, kind: AppliedKind, step: string, purpose?: Purpose): Promise<WaitTarget[]>;
  removeExtension(run: ShootRun, kind: AppliedKind, step: string, purpose?: Purpose): Promise<WaitTarget[]>;
  /** Removes what there is of Bastions beside the control plane. */
  removeBastions(run: ShootRun, step: string): Promise<WaitTarget[]>;
  removeNamespace(run: ShootRun, step: string): Promise<WaitTarget[]>;
  /** Asks the controllers to stop acting here and to leave everything as it is. */
  migrateExtension(run: ShootRun, kind: AppliedKind, step: string, purpose?: Purpose): Promise<WaitTarget[]>;
  /** Gives objects that are new here the state they had elsewhere, and asks their controllers to go on from it. */
  restoreExtension(run: ShootRun, kind: AppliedKind, step: string, purpose?: Purpose): Promise<WaitTarget[]>;
  /** Stops the pods of a component and keeps its volumes. */
  stopWorkload(run: ShootRun, component: ComponentName, step: string): Promise<WaitTarget[]>;
  stopWorkloads(run: ShootRun, step: string): Promise<WaitTarget[]>;
  /** Lets resolvers forget the API server's address soon. */
  lowerTtl(run: ShootRun, step: string): Promise<WaitTarget[]>;
  /** Shows that the control plane's images can be had, and its pods run, in this seed. */
  warmUpImages(run: ShootRun, step: string): Promise<WaitTarget[]>;
  takeSnapshot(run: ShootRun, step: string): Promise<WaitTarget[]>;
  /** Writes down a snapshot that was verified: its revision and hash. */
  keepSnapshot(run: ShootRun): Promise<void>;
  /** Makes all of the Shoot's etcd that can be had without its data: an empty volume for this, and `etcd-events`. */
  prepareEtcd(run: ShootRun, step: string): Promise<WaitTarget[]>;
  /** Lists the snapshots that a seed which has died has left; a takeover looks among them. */
  listSnapshots(run: ShootRun, step: string): Promise<WaitTarget[]>;
  /** Restores the newest of them for a try, then the one before, until one is good. */
  checkNewestSnapshot(run: ShootRun, step: string): Promise<WaitTarget[]>;
  keepNewestSnapshot(run: ShootRun): Promise<void>;
  /** Makes the volume of the Shoot's etcd from the latest snapshot that was kept. */
  restoreEtcdVolume(run: ShootRun, step: string): Promise<WaitTarget[]>;
  finishEtcdVolume(run: ShootRun): Promise<void>;
  /** Marks the claims of those etcds whose data are damaged or gone, if that is still so; the others of these act on marked ones alone. */
  confirmEtcdDamage(run: ShootRun): Promise<void>;
  /** Stops the API server of an etcd-main whose data are replaced. */
  stopDamagedApiServer(run: ShootRun, step: string): Promise<WaitTarget[]>;
  /** Stops the etcds, so that another pod can have the volume of etcd-main. */
  stopDamagedEtcd(run: ShootRun, step: string): Promise<WaitTarget[]>;
  /** Restores the newest good snapshot into a new folder of etcd-main's volume. */
  restoreEtcdData(run: ShootRun, step: string): Promise<WaitTarget[]>;
  /** Has the etcds start from their new folders. */
  switchEtcdData(run: ShootRun): Promise<void>;
  /**
   * Completed from outside when all targets are reached; fails with what stands in their way once each is reached or has
   * failed, and with a {@link Trouble} for each that is not among those that the flow was `told` of.
   */
  waitFor(run: ShootRun, targets: readonly WaitTarget[], told?: readonly string[]): Promise<void>;
  /** What stands between objects and the states waited for, a sentence each. */
  explainWait(run: ShootRun, targets: readonly WaitTarget[]): Promise<StepFailure>;

  deploySecrets(run: ShootRun): Promise<void>;
  deployCloudProviderSecret(run: ShootRun): Promise<void>;
  deployNodeAgentSecrets(run: ShootRun): Promise<void>;
  /** Registers a wait for what extensions have the resource manager apply, in the Shoot and beside its control plane. */
  awaitManagedResources(run: ShootRun, step: string): Promise<WaitTarget[]>;
  /** Lets resource managers act again on what they had to leave alone. */
  releaseManagedResources(run: ShootRun): Promise<void>;
  /** Has the resource manager take away what it has applied. */
  removeManagedResources(run: ShootRun, step: string): Promise<WaitTarget[]>;
  /** Takes from the Worker the machines that it was given to restore: they change from now on. */
  forgetMachineState(run: ShootRun): Promise<void>;
  /** Takes away the configurations of pools, or versions of pools, that no machine uses any more. */
  removeStaleConfigs(run: ShootRun): Promise<void>;
  /** Copies the Secrets and ConfigMaps that the Shoot names for its extensions. */
  deployReferencedResources(run: ShootRun): Promise<void>;
  /** Removes the Extensions and ContainerRuntimes that the Shoot has no more. */
  removeStaleExtensions(run: ShootRun, step: string): Promise<WaitTarget[]>;
  /** Removes the copies of Secrets and ConfigMaps that the Shoot names no more. */
  removeStaleResources(run: ShootRun): Promise<void>;
  /** Removes from the Shoot the webhooks of a resource manager that it has no more. */
  removeStaleResourceManagerWebhooks(run: ShootRun): Promise<void>;
  /** Takes away a resource manager that nothing asks for, once it manages nothing. */
  removeUnusedResourceManager(run: ShootRun, step: string): Promise<WaitTarget[]>;
  publishInfrastructure(run: ShootRun): Promise<void>;
  publishAddress(run: ShootRun): Promise<void>;
  publishKubeconfig(run: ShootRun): Promise<void>;
  /** Has the Shoot's API server store again what it stores encrypted, or does not any more. */
  encryptResources(run: ShootRun): Promise<void>;
  syncCluster(run: ShootRun): Promise<void>;
  initializeShootClients(run: ShootRun): Promise<void>;
  /** Throws unless the Shoot's API server reaches the network of its nodes through the tunnel. */
  checkTunnel(run: ShootRun): Promise<void>;
  /** Throws unless the Shoot's API server reaches pods by the seed's own routes. */
  checkRoutes(run: ShootRun): Promise<void>;
  cleanWebhooks(run: ShootRun): Promise<void>;
  cleanExtendedApis(run: ShootRun): Promise<void>;
  cleanKubernetesResources(run: ShootRun): Promise<void>;
  removeCluster(run: ShootRun): Promise<void>;
  /** Writes into the namespace where the leadership record is, under the run's epoch. */
  announceLeader(run: ShootRun): Promise<void>;
  /** Writes into the namespace which epoch a planned migration hands over to: the seed's own fence leaves that to its flow. */
  announceHandover(run: ShootRun): Promise<void>;
  /** From now on the namespace takes no write of an earlier epoch. */
  raiseFence(run: ShootRun): Promise<void>;
  /** Removes extension objects without letting their controllers act on the infrastructure. */
  abandonExtensions(run: ShootRun): Promise<void>;
  /** Throws what keeps the Shoot from leaving this seed; tells its extensions that an operation is under way. */
  checkSource(run: ShootRun): Promise<void>;
  /** Brings what must not be lost to the garden, and reads it back. */
  persistState(run: ShootRun): Promise<void>;
  /** Forgets what was kept of a Shoot that is gone. */
  removeState(run: ShootRun): Promise<void>;
  /** Brings the kept keys and tokens into the namespace. */
  restoreKeptSecrets(run: ShootRun): Promise<void>;
  /** Shows that the seed's worker is there; throws unless its API server is ready, too. */
  answer(): Promise<void>;
  /** Facts about the control plane in the seed that decide how a deletion goes. */
  readControlPlane(run: ShootRun): Promise<Pick<ShootRun, "namespaceUsable" | "cleanable" | "controlPlaneNeeded">>;
}

/** The activities of a seed but for the survey, which looks what they would do. */
export type ActingActivities = Omit<SeedActivities, "survey">;

/** A Shoot, as far as it decides what to do next. Times are RFC 3339, durations ms. */
export interface ShootView {
  readonly generation: number;
  readonly observedGeneration: number;
  readonly deleting: boolean;
  /** Our finalizer is there. */
  readonly finalizer: boolean;
  /** Something may exist in a seed: the status says so, or a leadership record does. */
  readonly initialised: boolean;
  readonly ignored: boolean;
  /** The value of `gardener.cloud/operation`. */
  readonly request?: string;
  readonly lastOperation?: { readonly type: ShootOperation; readonly state: string; readonly lastUpdateTime: string };
  readonly syncPeriod: number;
  /** The Shoot is on its way from seed to seed, and this is what it needs next. */
  readonly moving?: "Migrate" | "Restore";
  /** Seeds that do not lead but may still hold something of the Shoot. */
  readonly leftovers: readonly string[];
  /** Since when its health has reported damaged data of an etcd. */
  readonly etcdDamagedSince?: string;
  /** The facts for an operation, or why there can't be one yet. */
  readonly run?: Omit<ShootRun, "operation">;
  readonly problem?: StepFailure;
}

/** What a flow reports; replaces the operation's part of the Shoot's status. */
export interface OperationStatus {
  readonly state: "Pending" | "Processing" | "Succeeded" | "Error" | "Failed";
  readonly progress: number;
  readonly description: string;
  readonly lastErrors: readonly {
    taskID: string;
    description: string;
    codes: readonly ErrorCode[];
    lastUpdateTime: string;
  }[];
  /** The steps that wait for a retry. */
  readonly parked?: readonly string[];
  /** The steps that go on waiting, and know what keeps what they wait for. */
  readonly delayed?: readonly string[];
  /** The step that was parked, and goes on now. */
  readonly resumed?: string;
}

/** A step that waits for the operator, as its open activity shows it in Temporal. */
export interface ParkedStep {
  readonly step: string;
  readonly reason: string;
  readonly codes: readonly string[];
  readonly remedy: string;
}

/** The activities of queue `garden`. */
export interface GardenActivities {
  /** The Shoot, or null when it is gone (or another of the same name has taken its place). */
  readShoot(ref: ShootRef): Promise<ShootView | null>;
  /** Writes the beginning of an operation into the Shoot, and takes away the request that it answers. */
  beginOperation(run: ShootRun, request?: string): Promise<void>;
  writeStatus(run: ShootRun, status: OperationStatus): Promise<void>;
  reportProblem(ref: ShootRef, problem: StepFailure): Promise<void>;
  /** Takes away what of a request was answered; all that an operation answers, unless it is said. */
  acknowledgeRequest(ref: ShootRef, request: string, answered?: readonly ShootRequest[]): Promise<void>;
  /** Takes the leadership record away, says that the deletion is done and lets the Shoot go, in this order. */
  releaseShoot(ref: ShootRef): Promise<void>;
  /** Throws unless the run's seed leads, in its epoch, by the status and by every server that names a leader at all. */
  confirmLeadership(run: ShootRun): Promise<void>;
  /** Keeps the leadership record right, and returns when all servers of its zone say so. */
  ensureLeadership(run: ShootRun): Promise<void>;
  /** Returns two leases after it was called, by a clock that no step of the wall clock moves. */
  awaitLeases(run: ShootRun): Promise<void>;
  /** Returns when every extension that the Shoot needs is at its service on its Seed; throws which are not. */
  awaitRequiredExtensions(run: ShootRun): Promise<void>;
  /** Throws every reason why the Shoot cannot move. */
  checkMigration(run: ShootRun): Promise<void>;
  /** Lets the seed that the Shoot goes to open its state, and no seed that it has left. */
  shareState(run: ShootRun): Promise<void>;
  /** Makes the destination the leader, for good; returns when all servers of the zone say so. */
  flip(run: ShootRun): Promise<void>;
  /** Forgets a seed that holds nothing of the Shoot any more. */
  leaveSeed(run: ShootRun): Promise<void>;
  /** The operation of the Shoot whose workflow is running, as that workflow was told of it; null when none is. */
  findOperation(ref: ShootRef): Promise<ShootRun | null>;
  /** Ends a workflow that waits for something that will not come. */
  endFlow(workflowId: string, reason: string): Promise<void>;
  /** Always fails, with the reason why the step waits: that keeps it open, where operators see it and can complete it. */
  park(parked: ParkedStep): Promise<void>;
  /** Ends when the workflow of this id has ended, however it ended. */
  followFlow(workflowId: string): Promise<void>;
}
