import type { ShootRun } from "../../api/shoot/run.ts";
import type { ActingActivities, SurveyedAction } from "../index.ts";
import { judgedCalls, type JudgedCall, type Survey } from "./survey.ts";

/**
 * The same activities, of which those that Reconcile takes write nothing where nothing would change: each looks first
 * whether it has something to do, as a survey does. In an operation that a user asked for, that an extension's controller is
 * to act is something to do.
 */
export function sparing(activities: ActingActivities, survey: Survey): ActingActivities {
  const hasNothingToDo = async (run: ShootRun, step: string, action: SurveyedAction): Promise<boolean> =>
    run.operation === "Reconcile" && (await survey(run, { [step]: action })).get(step)?.settled === true;

  const calls = judgedCalls.map((activity) => {
    const act: JudgedCall = activities[activity];
    const call: JudgedCall = async (run, step) =>
      (await hasNothingToDo(run, activity, { verb: "call", activity })) ? undefined : await act(run, step);
    return [activity, call] as const;
  });
  return {
    ...activities,
    ...Object.fromEntries(calls),
    deployComponent: async (run, component, step) =>
      (await hasNothingToDo(run, step, { verb: "deploy", component }))
        ? []
        : await activities.deployComponent(run, component, step),
    applyExtension: async (run, kind, step, purpose) =>
      (await hasNothingToDo(run, step, { verb: "apply", kind, ...(purpose === undefined ? {} : { purpose }) }))
        ? []
        : await activities.applyExtension(run, kind, step, purpose),
  };
}
