import { isDeepStrictEqual } from "node:util";
import { constraintsAfter, examineConstraints } from "../activities/shoot/constraints.ts";
import { examine, hibernatedCondition, nextCondition, type Sights } from "../activities/shoot/health.ts";
import type { Readiness } from "../activities/waits/readiness.ts";
import { propagatedConditions } from "../activities/shoot/extension-reports.ts";
import { changeShootStatus } from "../activities/shoot/patch.ts";
import { Shoot, Worker, type Condition } from "../api/index.ts";
import { SCHEDULED } from "../api/placement/schedule.ts";
import { healthTypes, isCaredFor } from "../api/shoot/health.ts";
import { typeMeta } from "../kube/index.ts";
import type { SnapshotFailures } from "./backup/snapshot-failures.ts";
import { etcdReadiness } from "./etcd/health.ts";
import type { EtcdReadings } from "./etcd/readings.ts";
import { readReports } from "./extension-reports.ts";
import { createHeartbeats } from "./heartbeats.ts";
import { createOwners } from "./mirror/owner.ts";
import { createWatchedLists } from "./watched-lists.ts";
import { createWatchedShoots } from "./watched-shoots.ts";
import { createRounds, type RoundsDeps, type Visit } from "./rounds.ts";

/**
 * Looks at the health of each Shoot whose namespace the seed has, again and again, and keeps the Shoots' conditions. Each
 * time, a Shoot's API server is asked whether it is ready; the rest is known from watches. The garden is asked only when a
 * Shoot's health has changed, and now and then besides: another may write its conditions.
 */
export function createCare(deps: CareDeps) {
  const {
    gardenClient,
    seedClient,
    seedName,
    shootClients,
    snapshots,
    etcds = { readiness: () => ({ reached: true }) },
    log,
  } = deps;
  const findOwner = createOwners({ gardenClient, seedClient, seedName });
  const seed = createWatchedLists(seedClient, log);
  const shoots = createWatchedShoots(shootClients, log);
  const heartbeats = createHeartbeats({ gardenClient, seedClient, log });

  let doubtedAt = -Infinity;

  const visit: Visit<Look> = async (namespace, before) => {
    const begun = performance.now();
    const reports = await readReports(seed, heartbeats, namespace);
    const sights = {
      ...{ seed, shoot: await shoots.get(namespace), snapshots: snapshots.readiness(namespace), reports },
      etcds: await etcdReadiness({ seed, seedClient, readings: etcds }, namespace),
      pools: (await seed.list(Worker, { namespace })).flatMap(({ spec }) => spec.pools),
    };
    const readinessByType = await examine(sights, namespace);
    const propagated = propagatedConditions(reports, reserved, new Date());
    const constraint = await constraintOf(sights.shoot, readinessByType.APIServerAvailable);
    if (!readinessByType.APIServerAvailable.reached) shoots.forget(namespace);
    const isFresh =
      before !== undefined &&
      before.begun > doubtedAt &&
      Date.now() < before.until &&
      isDeepStrictEqual([before.propagated, before.constraint], [propagated, constraint]);
    if (isFresh && isKnown(before, readinessByType)) return before;
    const { shoot } = await findOwner(namespace);
    if (shoot?.status?.seedName !== seedName || shoot.metadata.deletionTimestamp || !isCaredFor(shoot))
      return undefined;
    await propagate(shoot, propagated);
    return { ...(await record(shoot, readinessByType, constraint)), propagated, constraint, begun };
  };

  /**
   * By a field manager of its own: what it does not apply any more goes, whichever process applied it, and what others have
   * written stays.
   */
  const propagate = async ({ metadata }: Shoot, conditions: readonly Condition[]) => {
    const { name, namespace, uid, managedFields = [] } = metadata;
    if (conditions.length === 0 && !managedFields.some(({ manager }) => manager === PROPAGATOR)) return;
    const object = { ...typeMeta(Shoot), metadata: { name, namespace, uid }, status: { conditions } };
    await gardenClient.applyStatus(object, { fieldManager: PROPAGATOR });
  };

  /** Writes what has changed, and remembers what the garden knows then. */
  const record = async (
    shoot: Shoot,
    readinessByType: ReadinessByType,
    constraint: Readiness | undefined,
  ): Promise<Omit<Look, "propagated" | "constraint" | "begun">> => {
    const workerless = (shoot.spec.provider.workers ?? []).length === 0;
    const hibernated = shoot.spec.hibernation?.enabled === true;
    const { conditions = [], constraints = [] } = shoot.status ?? {};
    const cared = conditionsOf({ conditions, workerless }, hibernated ? undefined : readinessByType);
    const seen = hibernated ? "hibernated" : constraint;
    const isKnownToAll = isDeepStrictEqual(constraintsAfter(constraints, seen, new Date()), constraints);
    if (!isKnownToAll || !isDeepStrictEqual(cared, conditions.filter(isOurs))) await write(shoot, cared, seen);
    if (hibernated) return { workerless, until: Date.now() + ASLEEP };
    return { conditions: cared, workerless, until: Date.now() + RESYNC };
  };

  /** What was seen here counts only while the Shoot is here. Conditions of others stay as they are. */
  const write = (
    { metadata: { namespace, name, uid = "" } }: Shoot,
    cared: readonly Condition[],
    seen: Readiness | "hibernated" | undefined,
  ) =>
    changeShootStatus(gardenClient, { namespace, name, uid }, (status) => {
      if (status.seedName !== seedName) return undefined;
      const others = (status.conditions ?? []).filter((condition) => !isOurs(condition));
      const constraints = constraintsAfter(status.constraints ?? [], seen, new Date());
      return { conditions: [...cared, ...others], ...(constraints.length > 0 && { constraints }) };
    });

  const rounds = createRounds(deps, { visit, failure: "cannot look after Shoot", forget: shoots.forget });
  return {
    ...rounds,
    /** What the garden was told is told again: it may have had its doubts meanwhile. */
    tellAgain: () => void (doubtedAt = performance.now()),
    async run(): Promise<void> {
      heartbeats.start();
      await rounds.run();
      await Promise.all([seed.stop(), shoots.stop(), heartbeats.stop()]);
    },
  };
}

/** Whose rounds these are, and who knows of the Shoots' snapshots. */
export interface CareDeps extends RoundsDeps {
  readonly snapshots: Pick<SnapshotFailures, "readiness">;
  /** What the etcds have said of themselves; nothing unless it is given. */
  readonly etcds?: Pick<EtcdReadings, "readiness">;
}

/** What was seen of a Shoot, and until when (ms since the epoch) that is held for what the garden knows. */
interface Look {
  /** Undefined while the Shoot is hibernated. */
  readonly conditions?: readonly Condition[];
  /** What extensions want to have said in the Shoot. */
  readonly propagated: readonly Condition[];
  /** Undefined while the Shoot's API server does not answer. */
  readonly constraint: Readiness | undefined;
  readonly workerless: boolean;
  readonly until: number;
  /** When it was begun, in ms of a clock that no step of the wall clock moves. */
  readonly begun: number;
}

/** Where it cannot be told, what was known stays. */
async function constraintOf(shoot: Sights["shoot"], apiServer: Readiness): Promise<Readiness | undefined> {
  return shoot && apiServer.reached ? await examineConstraints(shoot).catch(() => undefined) : undefined;
}

/** In ms: the garden's conditions are compared at least this often. */
const RESYNC = 3_600_000;

/** In ms: how soon a Shoot that is to wake up has conditions again, where its API server does not answer by then. */
const ASLEEP = 300_000;

type ReadinessByType = Awaited<ReturnType<typeof examine>>;

/** Whether the garden knows what was seen now. That a Shoot wakes up shows in its API server. */
function isKnown(look: Pick<Look, "conditions" | "workerless">, readinessByType: ReadinessByType): boolean {
  if (look.conditions === undefined) return !readinessByType.APIServerAvailable.reached;
  return isDeepStrictEqual(conditionsOf(look, readinessByType), look.conditions);
}

/** The field manager of conditions that extensions have in the Shoot. */
const PROPAGATOR = "perennial-propagated";

/** What is written here from what was seen, and by the scheduler. */
const reserved: ReadonlySet<string> = new Set([...healthTypes, SCHEDULED]);

const isOurs = ({ type }: Condition): boolean => healthTypes.some((one) => one === type);

/** The conditions that the Shoot is to have; one without nodes says nothing of them. Of one that hibernates nothing is known. */
function conditionsOf(
  { conditions = [], workerless }: Pick<Look, "conditions" | "workerless">,
  readinessByType: ReadinessByType | undefined,
): Condition[] {
  return healthTypes
    .filter((type) => !workerless || (type !== "EveryNodeReady" && type !== "SystemComponentsHealthy"))
    .map((type) => {
      const before = conditions.find((one) => one.type === type);
      if (readinessByType === undefined) return hibernatedCondition(type, before, new Date());
      return nextCondition(type, before, readinessByType[type], new Date());
    });
}
