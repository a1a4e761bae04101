import { createHash } from "node:crypto";
import type { ClusterEndpoint } from "../../api/cluster-api/index.ts";
import { GENERATED_LABEL, GENERATED_VALUE_LABEL } from "../../api/labels.ts";
import { renderEndpoint, type Endpoint } from "./value.ts";

/** What a generated object was made from: a value that a user wrote on the Cluster, or a provider's field. */
export type Origin = "user" | "provider";

/** The labels of an object that is generated with this value; the value's hash tells whether its spec was edited since. */
export function generatedLabels(origin: Origin, value: Endpoint): Readonly<Record<string, string>> {
  return { [GENERATED_LABEL]: origin, [GENERATED_VALUE_LABEL]: hashOf(value) };
}

/** What an object was generated from; undefined for one that was written by its owner, and for one that was edited since. */
export function originOf({ metadata, spec }: ClusterEndpoint): Origin | undefined {
  const origin = metadata.labels?.[GENERATED_LABEL];
  if (origin !== "user" && origin !== "provider") return undefined;
  return metadata.labels?.[GENERATED_VALUE_LABEL] === hashOf(spec) ? origin : undefined;
}

/** Whether an object still carries the label though it was edited: its editor has taken it over. */
export function isTakenOver(endpoint: ClusterEndpoint): boolean {
  return GENERATED_LABEL in (endpoint.metadata.labels ?? {}) && originOf(endpoint) === undefined;
}

const hashOf = ({ host, port }: Endpoint): string =>
  createHash("sha256").update(renderEndpoint({ host, port })).digest("hex").slice(0, 16);
