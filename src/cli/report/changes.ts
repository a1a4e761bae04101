import { createSeedSurvey, type SeedDeps } from "../../activities/seed.ts";
import { createShootClients, type ShootClients } from "../../activities/shoot/clients.ts";
import type { Finding } from "../../activities/survey/survey.ts";
import { judge } from "../../activities/waits/judgement.ts";
import { createNodeWaits } from "../../activities/waits/node-waits.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import type { PlannedStep } from "../../flow/plan.ts";
import type { KubeClient } from "../../kube/index.ts";
import { createLogger } from "../../log.ts";
import type { ShootFlow } from "../../workflows/actions.ts";
import { surveyedActions } from "../../workflows/surveyed.ts";

/** What a step would do: change objects, ask an extension's controller to act, or look and find everything in place. */
export interface Judgement {
  readonly would: "change" | "ask" | "look";
  readonly why?: string;
}

/** From where steps are judged, and for which run: a seed refuses dry runs of earlier epochs, too. */
export interface Judging {
  readonly gardenClient: KubeClient;
  readonly seedClient: KubeClient;
  /** Made from the Shoot's kubeconfig in the seed unless they are given. */
  readonly shootClients?: ShootClients;
  readonly run: ShootRun;
}

/** A step of a plan with what it would do, as far as that is known beforehand. */
export type JudgedStep = PlannedStep & Partial<Judgement>;

/**
 * The steps of a Reconcile, each that acts in the seed with what it would do: by the survey with which a flow begins, which
 * touches nothing. Where that cannot tell, the step says why.
 */
export async function judgeSteps(
  judging: Judging,
  flow: ShootFlow,
  steps: readonly PlannedStep[],
): Promise<JudgedStep[]> {
  const { run } = judging;
  const deps = depsOf(judging);
  const survey = createSeedSurvey(deps, readinessFrom);
  try {
    const findings = await survey(run, surveyedActions(flow, run));
    return steps.map((step) => ({ ...step, ...judgementOf(findings.get(step.step)) }));
  } finally {
    await deps.shootClients.close();
  }
}

function judgementOf(finding: Finding | undefined): Partial<Judgement> {
  if (finding === undefined) return {};
  if (finding.settled) return { would: "look" };
  const { would, why } = finding;
  if (would === "unknown") return { why: `not known: ${why}` };
  return { would: would === "wait" ? "look" : would, why };
}

/** What acts is made with these, too; nothing of it is called that writes, waits, or opens what is kept of a Shoot. */
function depsOf({ gardenClient, seedClient, shootClients }: Judging): SeedDeps {
  const log = createLogger({ name: "cli", level: "silent" });
  const never = async () => false;
  return {
    gardenClient,
    seedClient,
    shootClients: shootClients ?? createShootClients(seedClient, log),
    waits: {
      start: () => {},
      synced: async () => {},
      group: () => ({ registration: () => ({}) }),
      soon: async (targets) => [...targets],
      wait: () => {},
      readiness: () => ({ reached: false, message: "it is not watched" }),
      seen: () => undefined,
      stop: async () => {},
    },
    keys: { own: [], garden: async () => [] },
    completer: { complete: never, fail: never },
    log,
  };
}

/** How what a step would wait for stands, as the seed says now. */
function readinessFrom(deps: SeedDeps): ReturnType<Parameters<typeof createSeedSurvey>[1]> {
  const nodeWaits = createNodeWaits(deps);
  return async (run, target) => {
    if (target.until === "nodesReady") return await nodeWaits.readiness(run, target);
    const object = await deps.seedClient.read(target);
    return object === undefined ? { reached: false, message: "it does not exist" } : judge(target, object);
  };
}
