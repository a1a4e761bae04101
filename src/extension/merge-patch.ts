import { omitUndefined } from "../omit-undefined.ts";

/** The JSON merge patch (RFC 7386) that makes `after` of `before`, removing what `after` doesn't have. */
export function mergePatch(before: unknown, after: unknown): unknown {
  if (!isRecord(before) || !isRecord(after)) return after;
  const removed = Object.keys(before).filter((key) => after[key] === undefined);
  const kept = Object.entries(omitUndefined(after));
  return Object.fromEntries([
    ...removed.map((key) => [key, null] as const),
    ...kept.map(([key, value]) => [key, mergePatch(before[key], value)] as const),
  ]);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
