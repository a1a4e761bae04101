import type { ShootRun } from "../../api/shoot/run.ts";
import { NO_CLEANUP_LABEL } from "../../api/labels.ts";
import type { KubeClient } from "../../kube/index.ts";
import { omitUndefined } from "../../omit-undefined.ts";
import { needsPeriodicTrigger } from "../extensions/trigger.ts";
import type { ActingActivities, SurveyedAction, WaitTarget } from "../index.ts";
import type { SeedServiceDeps } from "../seed-services.ts";
import type { Readiness } from "../waits/readiness.ts";
import { explainReadiness } from "../waits/judgement.ts";
import type { Answers } from "./answers.ts";
import { onlooker, WouldChange } from "./onlooker.ts";

/** With what a survey looks; `activities` are those that the steps call, with the clients that they are given. */
export interface SurveyDeps<Deps extends SeedServiceDeps> {
  readonly deps: Deps;
  readonly activities: (deps: Deps) => ActingActivities;
  /** How what a step would wait for stands now. */
  readonly readiness: (deps: Deps) => (run: ShootRun, target: WaitTarget) => Promise<Readiness> | Readiness;
  /** What was answered before: with it, a look costs little, and may be minutes behind. Without it, all is asked for. */
  readonly answers?: Answers | undefined;
}

/** Looks at steps of a run; what is found is said of each. */
export type Survey = (
  run: ShootRun,
  steps: Readonly<Record<string, SurveyedAction>>,
) => Promise<ReadonlyMap<string, Finding>>;

/**
 * What is to be said of a step: that it has nothing to do, or what it has to do: change objects, ask an extension's
 * controller to act, wait; or why that is not known.
 */
export type Finding =
  | { readonly settled: true }
  | { readonly settled: false; readonly would: "change" | "ask" | "wait" | "unknown"; readonly why: string };

/**
 * Looks which steps have nothing to do: each does its work with clients that write nothing. A step is settled that gets to
 * its end so, and for whose objects there is nothing to wait. One that cannot be judged is not.
 */
export function createSurvey<Deps extends SeedServiceDeps>(o: SurveyDeps<Deps>): Survey {
  return async (run, steps) => {
    const deps = onlooking(o.deps, run, o.answers);
    const [looking, readiness] = [o.activities(deps), o.readiness(deps)];
    const judge = async (step: string, action: SurveyedAction): Promise<Finding> => {
      try {
        const targets = await act(looking, run, step, action);
        for (const target of targets) {
          const state = await readiness(run, target);
          if (!state.reached) return { settled: false, would: "wait", why: explainReadiness(target, state) };
        }
        if (action.then !== undefined) await call(looking, action.then)(run, step);
        return { settled: true };
      } catch (error) {
        return findingOf(error);
      }
    };
    const findings = new Map<string, Finding>();
    // One after the other: a thousand Shoots may be surveyed at once.
    for (const [step, action] of Object.entries(steps)) findings.set(step, await judge(step, action));
    return findings;
  };
}

function findingOf(error: unknown): Finding {
  const why = error instanceof Error ? error.message : String(error);
  if (!(error instanceof WouldChange)) return { settled: false, would: "unknown", why };
  return { settled: false, would: error.asks ? "ask" : "change", why };
}

/** The same, with clients that write nothing; nothing is registered, because nothing is waited for. */
function onlooking<Deps extends SeedServiceDeps>(
  deps: Deps,
  { technicalID: namespace, periodic }: ShootRun,
  of: Answers | undefined,
): Deps {
  const answersOf = (cluster: string) => omitUndefined({ answers: of && { of, cluster } });
  const seen = of && deps.waits.seen;
  const inShoot = { label: NO_CLEANUP_LABEL, ...answersOf(`shoot ${namespace}`) };
  const clients = new Map<string, Promise<KubeClient>>();
  const clientOf = (name: string): Promise<KubeClient> => {
    const client = clients.get(name) ?? deps.shootClients.get(name).then((found) => onlooker(found, inShoot));
    clients.set(name, client);
    return client;
  };
  return {
    ...deps,
    gardenClient: onlooker(deps.gardenClient, answersOf("garden")),
    seedClient: onlooker(deps.seedClient, { namespace, ...omitUndefined({ seen }), ...answersOf("seed") }),
    shootClients: { ...deps.shootClients, get: clientOf },
    waits: { ...deps.waits, group: () => ({ registration: () => ({}) }) },
    ...(periodic === true ? { triggers: needsPeriodicTrigger } : {}),
  };
}

/** The acting half of a step, as the step runner has it done. */
async function act(
  activities: ActingActivities,
  run: ShootRun,
  step: string,
  { verb, component, kind, purpose, activity, targets }: SurveyedAction,
): Promise<readonly WaitTarget[]> {
  if (verb === "deploy" && component !== undefined) return await activities.deployComponent(run, component, step);
  if (verb === "destroy" && component !== undefined) return await activities.destroyComponent(run, component, step);
  if (verb === "apply" && kind !== undefined) return await activities.applyExtension(run, kind, step, purpose);
  if (targets !== undefined) return targets;
  if (verb === "call" && activity !== undefined) return (await call(activities, activity)(run, step)) ?? [];
  throw new Error(`only a run can tell what ${verb} would do`);
}

/** One of {@link judgedCalls}; answers with what there is to wait for, if anything. */
export type JudgedCall = (run: ShootRun, step: string) => Promise<readonly WaitTarget[] | void>;

function call(activities: ActingActivities, name: string): JudgedCall {
  const found = judgedCalls.find((one) => one === name);
  if (found === undefined) throw new Error(`only a run can tell what ${name} would do`);
  return activities[found];
}

/** The activities that act through their clients alone, so that clients that write nothing hold them off. */
export const judgedCalls = [
  "announceLeader",
  "syncCluster",
  "releaseManagedResources",
  "deployCloudProviderSecret",
  "deploySecrets",
  "publishAddress",
  "publishInfrastructure",
  "initializeShootClients",
  "checkTunnel",
  "checkRoutes",
  "encryptResources",
  "publishKubeconfig",
  "deployNodeAgentSecrets",
  "removeStaleConfigs",
  "deployReferencedResources",
  "removeStaleExtensions",
  "removeStaleResources",
  "removeStaleResourceManagerWebhooks",
  "removeUnusedResourceManager",
] as const satisfies readonly (keyof ActingActivities)[];
