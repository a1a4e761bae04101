import type { ConfigMap } from "../../src/kube/index.ts";

/** How many objects are written in turn. */
export const WRITTEN = 5;

/** The object of a write: what it holds follows from the number, and takes the disk more than one page. */
export function numbered(number: number): ConfigMap {
  const data = { number: String(number), payload: `${number} `.repeat(20_000 + (number % 7) * 1000) };
  const metadata = { namespace: "default", name: `written-${number % WRITTEN}` };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data };
}
