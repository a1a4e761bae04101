import { isDeepStrictEqual } from "node:util";
import { readEffectiveProfile, profileReference } from "../../api/core/effective-profile.ts";
import { readNamespaceProject } from "../../api/core/namespace-project.ts";
import { Seed, Shoot } from "../../api/index.ts";
import { isSeedReady } from "../../api/placement/fit.ts";
import { chooseSeed, type Choice } from "../../api/placement/schedule.ts";
import { isSelfHosted } from "../../api/shoot/self-hosted.ts";
import type { Strategy } from "../../api/placement/strategy.ts";
import {
  briefConditions,
  createController,
  createReflector,
  inShort,
  isConflict,
  KubeError,
  refOf,
  type KubeClient,
} from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { readDistances } from "./distances.ts";
import { countShoots, isPending, PlacedShoot, toPlacedShoot } from "./known-shoots.ts";
import { describeRefusals, reportOutcome, type Outcome, type ReportDeps } from "./report.ts";

/** The garden, and how Seeds are chosen there; `period` is ms, a minute unless told otherwise. */
export interface SchedulerDeps extends ReportDeps {
  readonly gardenClient: KubeClient;
  readonly strategy: Strategy;
  readonly log: Logger;
  /** How often a Seed is looked for again where nothing that is watched has changed. */
  readonly period?: number;
}

/**
 * Gives each Shoot without `spec.seedName` a Seed, unless its own nodes carry it, one Shoot after the other, and counts those that it has just put somewhere:
 * a Seed gets no more than it takes, however many Shoots come at once. Looks again when Seeds change and when Shoots leave.
 * Two schedulers at once could fill a Seed twice: let only one run.
 */
export function createScheduler(deps: SchedulerDeps) {
  const { gardenClient, strategy, log, period = 60_000 } = deps;
  const bound = new Map<string, string>();
  const seeds = createReflector(gardenClient, Seed, {
    log,
    keep: knownSeed,
    onEvent: ({ object, old }) => {
      if (old === undefined || !isDeepStrictEqual(decisive(old), decisive(knownSeed(object)))) retryPending();
    },
  });
  const shoots = createReflector(gardenClient, PlacedShoot, {
    log,
    keep: toPlacedShoot,
    onEvent: ({ type, object, old }) => {
      const { name, namespace, uid = "" } = object.metadata;
      if (type === "deleted" || object.spec.seedName) bound.delete(uid);
      if (type !== "deleted" && isPending(object)) controller.enqueue({ name, namespace });
      if (type === "deleted" || (old && seedsOf(old) !== seedsOf(object))) retryPending();
    },
  });
  const controller = createController({
    name: "scheduler",
    log,
    concurrency: 1, // or two Shoots would be given the same last place
    async reconcile({ name, namespace = "" }) {
      await Promise.all([seeds.synced(), shoots.synced()]); // a Seed whose Shoots are not all known looks empty
      const shoot = await gardenClient.read(Shoot, { name, namespace });
      if (shoot === undefined || !isPending(shoot) || isSelfHosted(shoot)) return undefined;
      const outcome = await schedule(shoot);
      return "seed" in outcome ? undefined : { requeueAfter: period };
    },
  });

  /** Those that wait anyway; what is waiting in the queue already is not asked twice. */
  const retryPending = () => {
    for (const { metadata, ...shoot } of shoots.list()) {
      const { name, namespace } = metadata;
      if (isPending({ metadata, ...shoot })) controller.enqueue({ name, namespace });
    }
  };

  const schedule = async (shoot: Shoot): Promise<Outcome> => {
    const choice = await choose(shoot);
    const { outcome, latest } = "seed" in choice ? await bind(shoot, choice.seed) : { outcome: choice, latest: shoot };
    await reportOutcome(deps, latest, outcome);
    return outcome;
  };

  const choose = async (shoot: Shoot): Promise<Outcome> => {
    const profile = await readEffectiveProfile(gardenClient, shoot);
    if (profile === undefined) return { why: `There is no profile ${profileReference(shoot)?.name ?? ""}.` };
    const distances = strategy === "MinimalDistance" ? await readDistances(gardenClient, shoot) : undefined;
    const { namespace } = shoot.metadata;
    const { name: project } = await readNamespaceProject(gardenClient, namespace);
    const usage = countShoots(shoots.list(), bound);
    const facts = { shoot, profile, strategy, distances, usage, now: new Date(), seeds: seeds.list() };
    return said(chooseSeed({ ...facts, project }));
  };

  /** Admission has the last word: it may know of a change that the watch has not shown. */
  const bind = async (shoot: Shoot, seed: string): Promise<{ outcome: Outcome; latest: Shoot }> => {
    const { name, namespace, uid = "", resourceVersion } = shoot.metadata;
    const patch = { metadata: { resourceVersion }, spec: { seedName: seed } };
    try {
      const latest = await gardenClient.patch(refOf(shoot), patch);
      if (shoots.get(name, namespace)?.spec.seedName === undefined) bound.set(uid, seed);
      log.info({ shoot: `${namespace}/${name}`, seed, strategy }, "Shoot scheduled");
      return { outcome: { seed }, latest };
    } catch (error) {
      if (isConflict(error) || !(error instanceof KubeError) || error.retryable) throw error;
      return { outcome: { why: `Seed ${seed} was chosen, and refused: ${error.message}` }, latest: shoot };
    }
  };

  return {
    start() {
      seeds.start();
      shoots.start();
      controller.start();
    },
    async stop(): Promise<void> {
      await Promise.all([seeds.stop(), shoots.stop()]);
      await controller.stop();
    },
  };
}

const said = (choice: Choice): Outcome => ("seed" in choice ? choice : { why: describeRefusals(choice.refusals) });

/** A Seed with no more of its status than it is chosen by: its worker writes that, and may write anything there. */
function knownSeed({ status, ...seed }: Seed): Seed {
  const allocatable = status?.allocatable?.["shoots"];
  const shoots = typeof allocatable === "number" ? allocatable : inShort(allocatable);
  return {
    ...seed,
    status: {
      conditions: briefConditions(status?.conditions, ["GardenletReady", "BackupBucketsReady"]),
      ...(shoots !== undefined && { allocatable: { shoots } }),
    },
  };
}

/** All that a Seed is chosen by, but for the time of its heartbeat: that comes every half minute. */
const decisive = (seed: Seed) => ({
  spec: seed.spec,
  labels: seed.metadata.labels,
  annotations: seed.metadata.annotations,
  deleted: seed.metadata.deletionTimestamp,
  allocatable: seed.status?.allocatable,
  ready: isSeedReady(seed, new Date()),
  conditions: seed.status?.conditions?.map(({ type, status }) => `${type}=${status}`),
});

const seedsOf = ({ spec, status }: PlacedShoot): string => `${spec.seedName ?? ""}/${status?.seedName ?? ""}`;
