import type { ErrorCode } from "../../api/error-codes.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { StepError } from "../step-error.ts";
import type { WaitTarget } from "../index.ts";
import { healthy } from "../managed-resources/health.ts";
import {
  addressed,
  completed,
  ended,
  errorOf,
  extensionReady,
  rolledOut,
  type ExtensionLike,
  type Readiness,
} from "./readiness.ts";
import type { Registration } from "./registration.ts";

/** How an object stands to what is waited for. */
export function judge(target: WaitTarget, object: KubeObject): Readiness {
  if ((object.metadata.generation ?? 0) < (target.generation ?? 0))
    return { reached: false, message: "an older version of it was seen" };
  if (target.until === "ready") return extensionReady(object, target);
  return judges[target.until](object);
}

/** An error counts that was reported since the object was asked to go: it may still carry one of an earlier operation. */
function stillThere(object: KubeObject): Readiness {
  const { lastError } = (object as ExtensionLike).status ?? {};
  const finalizers = object.metadata.finalizers ?? [];
  const waitsFor = finalizers.length === 0 ? "nothing holds it" : `held by ${finalizers.join(", ")}`;
  if (lastError === undefined) return { reached: false, message: waitsFor };
  const { description: message, codes = [] } = lastError;
  return errorOf(object) === undefined ? { reached: false, message } : { reached: false, message, error: { codes } };
}

/** Nodes are looked at through the Shoot's own API server, not here. */
const judges: Readonly<Record<Exclude<WaitTarget["until"], "ready">, (object: KubeObject) => Readiness>> = {
  gone: stillThere,
  ended,
  rolledOut,
  addressed,
  completed,
  nodesReady: stillThere,
  healthy,
};

/** Whether what is waited for is there when the object is not. */
export const isForItsEnd = ({ until }: WaitTarget): boolean => until === "gone" || until === "ended";

/** The same for an object that was deleted. */
export const judgeDeleted = (target: WaitTarget): Readiness =>
  isForItsEnd(target) ? { reached: true } : { reached: false, message: "it was deleted", error: { codes: [] } };

/** What follows for the wait: "reached", the error to fail with, the ms after which to look again, or "wait" for the next event. */
export function verdict(
  { target, since }: Pick<Registration, "target" | "since">,
  readiness: Readiness,
): "reached" | "wait" | number | StepError {
  if (readiness.reached) return "reached";
  if (!readiness.error) return "wait";
  const remaining = since + target.severeAfter - Date.now();
  if (remaining > 0) return remaining;
  return new StepError(explainReadiness(target, readiness), readiness.error.codes as StepError["codes"]);
}

/** In one sentence: what is waited for, and what stands in its way. */
export function explainReadiness(target: WaitTarget, readiness: Readiness): string {
  const ref = `${target.kind} ${target.namespace === undefined ? "" : `${target.namespace}/`}${target.name}`;
  return `${ref} is not ${words[target.until]}: ${readiness.reached ? "it was late" : readiness.message}`;
}

/** Several failures as one: the first few in their words, and how many more there are. */
export function summarize(failures: readonly { readonly message: string; readonly codes: readonly string[] }[]): {
  message: string;
  codes: ErrorCode[];
} {
  const said = failures.slice(0, MOST_SAID).map(({ message }) => message);
  const more = failures.length - said.length;
  const message = [...said, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
  return { message, codes: [...new Set(failures.flatMap(({ codes }) => codes))] as ErrorCode[] };
}

const MOST_SAID = 3;

const words = {
  ready: "ready",
  gone: "gone",
  ended: "over",
  rolledOut: "rolled out",
  addressed: "reachable",
  completed: "done",
  nodesReady: "ready",
  healthy: "healthy",
} as const;
