import { readNamespaceProject } from "../../api/core/namespace-project.ts";
import { GARDENER_FINALIZER, technicalIDOf } from "../../api/names.ts";
import {
  EMERGENCY_STOP_ANNOTATION,
  IGNORE_ANNOTATION,
  OPERATION_ANNOTATION,
  TASKS_ANNOTATION,
} from "../../api/annotations.ts";
import { ControllerRegistration, DNSRecord, Seed, Shoot } from "../../api/index.ts";
import { moveOf, type Move } from "../../api/placement/move.ts";
import { usesTunnel } from "../../api/placement/tunnel.ts";
import { usesMachineManager } from "../../api/registration/machine-manager.ts";
import { registeredOf, type Registered } from "../../api/registration/registered.ts";
import { usesResourceManager } from "../../api/registration/resource-manager.ts";
import { extensionsOf } from "../../api/registration/shoot-extensions.ts";
import { asItServes } from "../../api/registration/wanted.ts";
import { isDeletedByForce } from "../../api/shoot/force-deletion.ts";
import { etcdDamagedSince } from "../../api/shoot/etcd-damage.ts";
import type { ShootRef, ShootRun } from "../../api/shoot/run.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { ShootView } from "../index.ts";
import { leadershipRecord } from "./leadership-domain.ts";
import { epochOf, nextOperation } from "./move-operation.ts";
import { listedShoots, type GardenShoots } from "./garden-shoots.ts";
import { findTakenName, type NameJudgement } from "./taken-names.ts";

/** Durations of the flows, in ms unless said otherwise; from the configuration of the garden's worker. */
export interface Periods {
  /** Seconds. */
  readonly leaseSeconds: number;
  /** Seconds. */
  readonly dnsTtl: number;
  /** Minutes; undefined in plans. */
  readonly snapshotMinutes?: number;
  readonly syncPeriod: number;
  readonly seedDeadline: number;
  readonly retryDuration: number;
}

/**
 * Reads the Shoot and what belongs to it, and keeps the facts. Null when it is gone, or a later one took its name. The
 * registrations of extensions and the other Shoots are listed, unless the caller knows them.
 */
export async function readShootView(
  gardenClient: KubeClient,
  ref: ShootRef,
  periods: Periods,
  { registered = () => listRegistered(gardenClient), shoots = listedShoots(gardenClient) }: Partial<KnownGarden> = {},
): Promise<ShootView | null> {
  const shoot = await gardenClient.read(Shoot, { namespace: ref.namespace, name: ref.name });
  if (shoot === undefined || shoot.metadata.uid !== ref.uid) return null;
  const move = moveOf(shoot);
  return {
    ...observedState(shoot, move),
    initialised: shoot.status?.uid !== undefined || (await isRecorded(gardenClient, ref)),
    leftovers: await findLeftovers(gardenClient, shoot, move),
    syncPeriod: periods.syncPeriod,
    ...(await readFacts(gardenClient, { shoot, move, shoots, registered: await registered() }, periods)),
  };
}

/** A Shoot's namespace in the seed; once written into the status it never changes. */
export function technicalID(shoot: Shoot, project: string): string {
  return shoot.status?.technicalID ?? technicalIDOf(project, shoot.metadata.name);
}

/** What the Shoot itself says of where it is. */
function observedState(
  shoot: Shoot,
  move: Move,
): Omit<ShootView, "syncPeriod" | "run" | "problem" | "leftovers" | "initialised"> {
  const { metadata, status = {} } = shoot;
  const { [OPERATION_ANNOTATION]: request, [IGNORE_ANNOTATION]: ignore } = metadata.annotations ?? {};
  const { lastOperation, observedGeneration = 0 } = status;
  const moving = nextOperation(move)?.operation;
  const damagedSince = etcdDamagedSince(status);
  return {
    generation: metadata.generation ?? 0,
    observedGeneration,
    deleting: metadata.deletionTimestamp !== undefined,
    finalizer: (metadata.finalizers ?? []).includes(GARDENER_FINALIZER),
    ignored: ignore === "true",
    ...(moving === undefined ? {} : { moving }),
    ...(request === undefined ? {} : { request }),
    ...(damagedSince === undefined ? {} : { etcdDamagedSince: damagedSince }),
    ...(lastOperation === undefined ? {} : { lastOperation: pickOperation(lastOperation) }),
  };
}

/** Whether there is a leadership record of that name: some seed has led, whatever a status that was lost says. */
async function isRecorded(gardenClient: KubeClient, { namespace, name }: ShootRef): Promise<boolean> {
  return (await gardenClient.read(DNSRecord, { namespace, name: `${name}-leadership` })) !== undefined;
}

function pickOperation({ type, state, lastUpdateTime }: NonNullable<NonNullable<Shoot["status"]>["lastOperation"]>) {
  return { type, state, lastUpdateTime };
}

/** Seeds that do not lead; without those that were taken out of the garden, which no worker could clean up. */
async function findLeftovers(gardenClient: KubeClient, { status }: Shoot, { leader }: Move): Promise<string[]> {
  const others = (status?.seeds ?? []).filter((seedName) => seedName !== leader);
  if (others.length === 0) return [];
  const seeds = await gardenClient.list(Seed);
  return others.filter((name) => seeds.some(({ metadata }) => metadata.name === name));
}

/** The garden's objects that programs know which ask about many Shoots. */
export interface KnownGarden {
  registered(): Promise<readonly Registered[]> | readonly Registered[];
  readonly shoots: GardenShoots;
}

/** A Shoot, and where it is. */
interface Subject {
  readonly shoot: Shoot;
  readonly move: Move;
  readonly shoots: GardenShoots;
  /** The extensions that are registered. */
  readonly registered: readonly Registered[];
}

async function readFacts(
  gardenClient: KubeClient,
  { shoot, move, shoots, registered }: Subject,
  periods: Periods,
): Promise<Pick<ShootView, "run" | "problem">> {
  const { spec, metadata } = shoot;
  const seedName = move.leader ?? spec.seedName;
  if (seedName === undefined) return { problem: { message: noSeedYet, codes: [] } };
  const seed = await gardenClient.read(Seed, { name: seedName });
  if (seed === undefined) return problem(whySeedIsMissing(shoot, seedName));
  const { name: project } = await readNamespaceProject(gardenClient, metadata.namespace);
  const obstacle = await findObstacle(gardenClient, { shoot, seed, project, shoots });
  if (obstacle !== undefined) return problem(obstacle);
  const workers = spec.provider.workers ?? [];
  const run: Omit<ShootRun, "operation"> = {
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid ?? "",
    generation: metadata.generation ?? 0,
    technicalID: technicalID(shoot, project),
    project,
    seedName,
    workerless: workers.length === 0,
    ...sleepOf(shoot),
    ...(isDeletedByForce(shoot) ? { forced: true } : {}),
    hasCredentials: (spec.secretBindingName ?? spec.credentialsBindingName) !== undefined,
    hasInternalDomain: seed.spec.dns.internal !== undefined,
    hasExternalDomain: spec.dns?.domain !== undefined,
    pools: workers.map(({ name }) => name),
    ...unknownYet,
    ...tasksOf(shoot),
    ...(await readLeadership(gardenClient, { shoot, move }, project, periods)),
    dnsTtl: periods.dnsTtl,
    ...(periods.snapshotMinutes === undefined ? {} : { snapshotMinutes: periods.snapshotMinutes }),
    hasBackup: seed.spec.backup !== undefined,
    ...tunnelFact(shoot, seed),
    ...extensionFacts(shoot, seed, registered),
    ...damageFact(shoot),
    seedDeadline: periods.seedDeadline,
    retryDuration: periods.retryDuration,
  };
  return { run };
}

/** Why no operation can begin on a Seed that exists. */
async function findObstacle(
  gardenClient: KubeClient,
  { shoot, seed, ...known }: { readonly shoot: Shoot; readonly seed: Seed } & NameJudgement,
): Promise<string | undefined> {
  if (isStopped(seed)) return `Seed ${seed.metadata.name} has stopped all operations`;
  return await findTakenName(gardenClient, shoot, known);
}

type ExtensionFact =
  | "managesResources"
  | "resourceManagerUnasked"
  | "machineControllerManager"
  | "extensions"
  | "hasReferences"
  | "hasContainerRuntimes";

/** Which rows for extensions there is something to do for, and what these expect beside the control plane. */
function extensionFacts(shoot: Shoot, seed: Seed, registered: readonly Registered[]): Pick<ShootRun, ExtensionFact> {
  const { resources = [], provider } = shoot.spec;
  const runtimes = (provider.workers ?? []).flatMap(({ cri }) => cri?.containerRuntimes ?? []);
  return {
    ...resourceManagerFacts(shoot, seed, registered),
    ...(usesMachineManager(shoot, seed, registered) ? { machineControllerManager: true } : {}),
    extensions: extensionsOf(shoot, registered),
    ...(resources.length > 0 ? { hasReferences: true } : {}),
    ...(runtimes.length > 0 ? { hasContainerRuntimes: true } : {}),
  };
}

/** What was deployed is looked after until it is gone, whether anything asks for it or not. */
function resourceManagerFacts(
  shoot: Shoot,
  seed: Seed,
  registered: readonly Registered[],
): Pick<ShootRun, "managesResources" | "resourceManagerUnasked"> {
  if (usesResourceManager(shoot, seed, registered)) return { managesResources: true };
  return shoot.status?.managesResources === true ? { managesResources: true, resourceManagerUnasked: true } : {};
}

const damageFact = ({ status }: Shoot): Pick<ShootRun, "etcdDamaged"> =>
  etcdDamagedSince(status) === undefined ? {} : { etcdDamaged: true };

const tunnelFact = (shoot: Shoot, seed: Seed): Pick<ShootRun, "tunnel"> =>
  usesTunnel(shoot, seed) ? { tunnel: true } : {};

/** The registrations as the garden's API server has them. */
const listRegistered = async (gardenClient: KubeClient): Promise<readonly Registered[]> =>
  (await gardenClient.list(ControllerRegistration)).map(registeredOf).map(asItServes);

/** Nothing is wrong with such a Shoot: the scheduler gives it a Seed. */
const noSeedYet = "the Shoot has no seed yet: the scheduler gives it one, or set spec.seedName";

/** Only a Shoot that is nowhere yet can be helped by its spec. */
function whySeedIsMissing({ status }: Shoot, seedName: string): string {
  if (status?.seedName === undefined) return `Seed ${seedName} does not exist: spec.seedName has to name one that does`;
  return `Seed ${seedName}, which holds the Shoot, does not exist: create its object again under that name`;
}

/** A lease that objects hold already is not cut short by a new configuration. */
async function readLeadership(
  gardenClient: KubeClient,
  { shoot, move }: Pick<Subject, "shoot" | "move">,
  project: string,
  { leaseSeconds }: Periods,
): Promise<Pick<ShootRun, "epoch" | "leaseSeconds" | "leadershipRecord" | "migration">> {
  const { leadership } = shoot.status ?? {};
  const record = leadership?.record ?? (await leadershipRecord(gardenClient, shoot.metadata.name, project));
  const next = nextOperation(move);
  return {
    epoch: epochOf(shoot, move),
    leaseSeconds: Math.max(leaseSeconds, leadership?.leaseSeconds ?? 0),
    ...(record === undefined ? {} : { leadershipRecord: record }),
    ...(next === undefined ? {} : { migration: next.migration }),
  };
}

function sleepOf({ spec, status }: Shoot): Pick<ShootRun, "hibernated" | "fallsAsleep"> {
  const hibernated = spec.hibernation?.enabled === true;
  return hibernated && status?.hibernated !== true ? { hibernated, fallsAsleep: true } : { hibernated };
}

function tasksOf({ metadata }: Shoot): Pick<ShootRun, "tasks"> {
  const tasks = metadata.annotations?.[TASKS_ANNOTATION];
  return tasks === undefined ? {} : { tasks };
}

/** What only the seed can tell; the flow asks it. */
const unknownYet = { namespaceUsable: false, cleanable: false, controlPlaneNeeded: false };

const isStopped = ({ metadata }: Seed): boolean => metadata.annotations?.[EMERGENCY_STOP_ANNOTATION] === "true";

const problem = (message: string): Pick<ShootView, "problem"> => ({
  problem: { message, codes: ["ERR_CONFIGURATION_PROBLEM"] },
});
