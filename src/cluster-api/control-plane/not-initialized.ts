import type { Shoot } from "../../api/index.ts";
import type { Said } from "../objects/conditions.ts";

/**
 * Condition Available of a control plane whose API server has not answered once: what it waits for, which is the Shoot's own flow, in the
 * words of that. How far the flow is, stays out: the condition would be written at each step. Pure.
 */
export function notInitialized(shoot: Shoot | undefined): Said {
  const said = { type: "Available", status: "False", reason: "NotInitialized" } as const;
  if (shoot === undefined) return { ...said, message: "there is no Shoot yet" };
  const { metadata, status } = shoot;
  return { ...said, message: `Shoot ${metadata.namespace}/${metadata.name} ${waitingFor(status)}` };
}

function waitingFor({ lastOperation, lastErrors = [] }: Shoot["status"] = {}): string {
  if (lastOperation === undefined) return "waits for its flow to begin";
  const { type, state, description } = lastOperation;
  const [error] = lastErrors;
  if (error !== undefined) return `is in operation ${type}, which is ${state}: ${error.description}`;
  if (state === "Pending") return `waits for operation ${type}: ${description}`;
  return `is in operation ${type}, which is ${state}, and its API server has not answered yet`;
}
