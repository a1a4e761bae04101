import type { Condition, KubeObject } from "../api/schema/meta.ts";
import type { KubeClient } from "./client.ts";
import { isConflict } from "./errors.ts";
import type { ObjectRef } from "./path.ts";
import { now } from "./time.ts";

/**
 * Changes an object's status by compare-and-swap: reads, lets `change` say what the status shall be, writes, and begins
 * again after a conflict. Undefined when the object is gone; nothing is written when nothing changes.
 */
export async function updateStatus<T extends KubeObject>(
  client: KubeClient,
  ref: ObjectRef<T>,
  change: (object: T) => unknown,
): Promise<T | undefined> {
  for (let attempt = 1; ; attempt++) {
    const object = await client.read(ref);
    if (object === undefined) return undefined;
    const status = change(object);
    if (JSON.stringify(status) === JSON.stringify(object["status"])) return object;
    try {
      return await client.replaceStatus<T>({ ...object, status });
    } catch (error) {
      if (!isConflict(error) || attempt === 5) throw error;
    }
  }
}

/** What a condition is to say; the times follow from the condition it replaces. */
export type ConditionUpdate = Omit<Condition, "lastTransitionTime" | "lastUpdateTime">;

/**
 * The conditions with one of them set. Nothing changes when it says the same already; lastTransitionTime moves only with
 * the status; the order stays.
 */
export function setCondition(
  conditions: readonly Condition[] = [],
  update: ConditionUpdate,
  at: string = now(),
): Condition[] {
  const current = conditions.find(({ type }) => type === update.type);
  if (current === undefined) return [...conditions, { ...update, lastTransitionTime: at, lastUpdateTime: at }];
  const lastTransitionTime = current.status === update.status ? current.lastTransitionTime : at;
  const next = { ...update, lastTransitionTime, lastUpdateTime: says(current, update) ? current.lastUpdateTime : at };
  return conditions.map((condition) => (condition === current ? next : condition));
}

function says(current: Condition, { status, reason, message, codes }: ConditionUpdate): boolean {
  const same = current.status === status && current.reason === reason && current.message === message;
  return same && JSON.stringify(current.codes ?? []) === JSON.stringify(codes ?? []);
}
