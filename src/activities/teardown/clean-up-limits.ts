import {
  CLEANUP_EXTENDED_APIS_GRACE_ANNOTATION,
  CLEANUP_KUBERNETES_RESOURCES_GRACE_ANNOTATION,
  CLEANUP_WEBHOOKS_GRACE_ANNOTATION,
  SKIP_CLEANUP_ANNOTATION,
} from "../../api/annotations.ts";
import type { Shoot } from "../../api/index.ts";
import { configurationProblem } from "../step-error.ts";

/** What of the users' objects is deleted, and how long each may take, as the Shoot's annotations say (Gardener contract: C1.3). */
export interface CleanUpLimits {
  /** Only services and storage are deleted: what stands for something outside of the cluster. */
  readonly outsideOnly: boolean;
  /** How long, in seconds, an object may take to go before its finalizers are removed. */
  readonly grace: Readonly<Record<Phase | "snapshots", number>>;
}

type Phase = "webhooks" | "extendedApis" | "kubernetesResources";

/** Reads them afresh for each attempt: users change them when a deletion does not get on. Throws what is no number. */
export function cleanUpLimits({ annotations = {} }: Shoot["metadata"]): CleanUpLimits {
  const atMost = (seconds: number, annotation: string): number => {
    const given = annotations[annotation];
    if (given === undefined) return seconds;
    if (/^\d{1,9}$/.test(given)) return Math.min(seconds, Number(given));
    throw configurationProblem(`cannot clean up: annotation ${annotation} is no number of seconds: ${given}`);
  };
  return {
    outsideOnly: annotations[SKIP_CLEANUP_ANNOTATION] === "true",
    grace: {
      webhooks: atMost(300, CLEANUP_WEBHOOKS_GRACE_ANNOTATION),
      extendedApis: atMost(3_600, CLEANUP_EXTENDED_APIS_GRACE_ANNOTATION),
      kubernetesResources: atMost(300, CLEANUP_KUBERNETES_RESOURCES_GRACE_ANNOTATION),
      // Many snapshots take their time.
      snapshots: atMost(3_600, CLEANUP_KUBERNETES_RESOURCES_GRACE_ANNOTATION),
    },
  };
}
