import { OPERATION_ANNOTATION } from "../api/annotations.ts";
import type { ExtensionObject } from "../api/extensions/kinds.ts";
import type { Version } from "./recording.ts";

/** One line for people: what a version says of the operation, and what the contract looks at besides. */
export function describeObject({ metadata, status }: ExtensionObject): string {
  const { lastOperation, lastError, observedGeneration } = status ?? {};
  const requested = metadata.annotations?.[OPERATION_ANNOTATION];
  return [
    lastOperation ? `${lastOperation.type} ${lastOperation.state} ${lastOperation.progress} %` : "no operation",
    `generation ${metadata.generation ?? "-"}, observed ${observedGeneration ?? "-"}`,
    ...(lastOperation ? [`at ${lastOperation.lastUpdateTime}`] : []),
    ...(requested === undefined ? [] : [`asked to ${requested}`]),
    metadata.finalizers?.length ? `finalizers ${metadata.finalizers.join(" ")}` : "no finalizer",
    ...(metadata.deletionTimestamp === undefined ? [] : ["being deleted"]),
    ...(lastError ? [`error "${lastError.description}"`] : []),
  ].join(", ");
}

/** The versions on one line; of many, the first and the last: the report's timelines have them all. */
export function inShort(versions: readonly Version[]): string {
  const lines = timeline(versions);
  if (lines.length <= SHOWN) return lines.join("; ");
  const between = `${lines.length - SHOWN} more`;
  return [...lines.slice(0, SHOWN - 1), between, ...lines.slice(-1)].join("; ");
}

const SHOWN = 3;

/** The versions as lines, each with the time since the first in seconds. */
export function timeline(versions: readonly Version[]): string[] {
  const begin = versions[0]?.at ?? 0;
  return versions.map(
    ({ at, object, gone }) => `+${((at - begin) / 1000).toFixed(2)} s: ${gone ? "gone" : describeObject(object)}`,
  );
}
