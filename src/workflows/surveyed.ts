import type { SurveyedAction, WaitTarget } from "../activities/index.ts";
import type { ShootRun } from "../api/shoot/run.ts";
import type { Action, ShootFlow } from "./actions.ts";

/** What the steps do in the seed that leads, as far as a survey can judge it. */
export function surveyedActions({ steps }: ShootFlow, run: ShootRun): Record<string, SurveyedAction> {
  const found = [...steps].flatMap(([name, { do: action, when = [] }]) => {
    const surveyed = when.every((condition) => condition.holds(run)) ? surveyedAction(action, run) : undefined;
    return surveyed === undefined ? [] : [[name, surveyed] as const];
  });
  return Object.fromEntries(found);
}

function surveyedAction(action: Action, run: ShootRun): SurveyedAction | undefined {
  if (action.where !== "seed" || action.verb === "survey") return undefined;
  const { where: _, ...said } = action;
  return action.verb === "awaitNodes" ? { ...said, targets: [nodesOf(run)] } : said;
}

/** The contract gives Worker ten minutes; its nodes get as long again to join. */
export function nodesOf({ technicalID, name }: ShootRun): WaitTarget {
  return {
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Worker",
    name,
    namespace: technicalID,
    until: "nodesReady",
    severeAfter: 600_000,
    deadline: 600_000,
  };
}
