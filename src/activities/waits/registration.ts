import { activityInfo } from "@temporalio/activity";
import { WAIT_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { refOf } from "../../kube/index.ts";
import type { WaitTarget } from "../index.ts";

/** The activity that waits for an object, by the run of its workflow. */
export interface Waiter {
  readonly workflowId: string;
  readonly runId: string;
  readonly activityId: string;
}

/** What a registration says; `since` is ms since the epoch. */
export interface Registration {
  readonly waiter: Waiter;
  readonly target: WaitTarget;
  readonly since: number;
}

/** The registration of the calling activity's workflow. Throws outside of a workflow's activity. */
export function registrationOf(target: WaitTarget): Registration {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) throw new Error("only an activity of a workflow can register a wait");
  const { workflowId, runId } = workflowExecution;
  return { waiter: { workflowId, runId, activityId: target.activityId }, target, since: Date.now() };
}

/** The registration in an object's annotation; undefined for other texts, and for one of another object. */
export function readRegistration(object: KubeObject): Registration | undefined {
  const text = object.metadata.annotations?.[WAIT_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    const { waiter, target, since } = JSON.parse(text) as Partial<Registration>;
    return waiter && target && typeof since === "number" && refersTo(target, object)
      ? { waiter, target, since }
      : undefined;
  } catch {
    return undefined;
  }
}

const refersTo = (target: WaitTarget, object: KubeObject): boolean => {
  const ref = refOf(object);
  return target.kind === ref.kind && target.name === ref.name && target.namespace === ref.namespace;
};
