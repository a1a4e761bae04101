import { IGNORE_RESOURCE_ANNOTATION } from "../../api/annotations.ts";
import type { Condition, ManagedResource } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { Readiness } from "../waits/readiness.ts";

/** What the resource manager says of a ManagedResource that is as it should be, in the order in which it comes about. */
const aspects = { ResourcesApplied: "True", ResourcesHealthy: "True", ResourcesProgressing: "False" } as const;

/**
 * Whether the resource manager has applied the latest version of a ManagedResource, and found what it applied healthy and
 * rolled out (upstream: `CheckManagedResource`, and not progressing). What could not be applied is an error; the resource
 * manager does not say of which version.
 */
export function healthy(object: KubeObject): Readiness {
  const { conditions = [], observedGeneration } = (object as Partial<ManagedResource>).status ?? {};
  const failed = conditions.find(({ type, status }) => type === "ResourcesApplied" && status === "False");
  if (failed !== undefined) return { reached: false, message: inWords(failed), error: { codes: failed.codes ?? [] } };
  if (observedGeneration !== object.metadata.generation)
    return { reached: false, message: "the resource manager has not seen the latest spec" };
  for (const [type, wanted] of Object.entries(aspects)) {
    const found = conditions.find((condition) => condition.type === type);
    if (found === undefined) return { reached: false, message: `the resource manager has not said ${type}` };
    if (found.status !== wanted) return { reached: false, message: inWords(found) };
  }
  return { reached: true };
}

const inWords = ({ type, status, message }: Condition): string => `${type} is ${status}: ${message}`;

/** Whether the resource manager leaves it alone: then what it says of it is old. */
export const isIgnored = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.[IGNORE_RESOURCE_ANNOTATION] === "true";
