import { activityInfo } from "../temporal.ts";
import { stepOfActivity, waitId } from "../../api/activity-ids.ts";
import { WAIT_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { refOf } from "../../kube/index.ts";
import type { WaitTarget } from "../index.ts";
import { parseJson } from "../../parsing.ts";
import type { Signer } from "./signature.ts";

/** The activity that waits for an object, by the run of its workflow. */
export interface Waiter {
  readonly workflowId: string;
  readonly runId: string;
  readonly activityId: string;
}

/**
 * What a registration says. Those that one call of an activity makes are a group: they share `since`, in ms since the
 * epoch, and say how many they are.
 */
export interface Registration {
  readonly waiter: Waiter;
  readonly target: WaitTarget;
  readonly since: number;
  readonly of: number;
  /** Of the object, where it was there already. */
  readonly uid?: string;
}

/** The calling activity. Throws outside of a workflow's activity. */
export function callingActivity(): Waiter {
  const { workflowExecution, activityId } = activityInfo();
  if (workflowExecution === undefined) throw new Error("only an activity of a workflow can wait");
  const { workflowId, runId } = workflowExecution;
  return { workflowId, runId, activityId };
}

/** The waiting activity of a step, in the workflow of the calling activity. */
export const waiterOf = (step: string): Waiter => ({ ...callingActivity(), activityId: waitId(step) });

/** The activity that is to wait for what the calling one has done. Throws outside of a step. */
export function ownWaiter(): Waiter {
  const { activityId } = callingActivity();
  const step = stepOfActivity(activityId);
  if (step === undefined) throw new Error(`activity ${activityId} belongs to no step that could wait`);
  return waiterOf(step);
}

/** The registration as an object's annotation has it. */
export function formatRegistration(registration: Registration, signer: Signer): string {
  return JSON.stringify({ ...registration, signature: signer.sign(canonical(registration)) });
}

/** What an object's annotation is worth; where its namespace is not known yet, `unknown` is what it may be worth then. */
export type Reading = Registration | { readonly refused: string; readonly unknown?: Registration };

/**
 * Reads the registration in an object's annotation; undefined where there is none. An extension's controller can write
 * it: it counts only as this worker has signed it, on the object and for the Shoot that it was made for. `shootUid` is of
 * the Shoot that the object's namespace belongs to.
 */
export function readRegistration(
  object: KubeObject,
  { shootUid, signer }: { readonly shootUid: string | undefined; readonly signer: Signer },
): Reading | undefined {
  const text = object.metadata.annotations?.[WAIT_ANNOTATION];
  if (text === undefined) return undefined;
  const { registration, signature } = parse(text) ?? {};
  if (registration === undefined || signature === undefined) return { refused: "it is no registration" };
  if (!signer.verify(canonical(registration), signature))
    return { refused: "this worker has not signed it, or it was changed" };
  const { waiter, target, uid } = registration;
  if (!refersTo(target, object)) return { refused: `it is that of ${target.kind} ${target.name}` };
  if (uid !== undefined && uid !== object.metadata.uid)
    return { refused: "it is that of an earlier object of that name" };
  if (shootUid === undefined) return { refused: "its namespace says of no Shoot", unknown: registration };
  if (!belongsTo(waiter.workflowId, shootUid))
    return { refused: `workflow ${waiter.workflowId} is not of the Shoot with uid ${shootUid}` };
  return registration;
}

function parse(text: string): { registration: Registration; signature: string } | undefined {
  try {
    const { signature, ...registration } = parseJson(text, WAIT_ANNOTATION) as Partial<Registration> & {
      signature?: unknown;
    };
    const { waiter, target, since, of } = registration;
    if (!waiter || !target || typeof since !== "number" || typeof of !== "number") return undefined;
    if (typeof signature !== "string") return undefined;
    return { registration: registration as Registration, signature };
  } catch {
    return undefined;
  }
}

/** What is signed: every field, in one order. */
function canonical({ waiter: { workflowId, runId, activityId }, target, since, of, uid }: Registration): string {
  return JSON.stringify({ waiter: { workflowId, runId, activityId }, target, since, of, uid });
}

const refersTo = (target: WaitTarget, object: KubeObject): boolean => {
  const ref = refOf(object);
  return target.kind === ref.kind && target.name === ref.name && target.namespace === ref.namespace;
};

/** The id of an operation's workflow is `shoot/<namespace>/<name>/<uid>/<flow>`. */
const belongsTo = (workflowId: string, shootUid: string): boolean => {
  const [shoot, namespace, name, uid, flow] = workflowId.split("/");
  return shoot === "shoot" && [namespace, name, flow].every(Boolean) && uid === shootUid;
};
