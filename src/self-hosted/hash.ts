import { createHash } from "node:crypto";

/** SHA-256, independent of the order of fields, which API servers and files do not keep. */
export function hashOf(value: unknown): string {
  const sorted = (_key: string, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each;
  return createHash("sha256").update(JSON.stringify(value, sorted)).digest("hex");
}
