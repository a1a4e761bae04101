import type { z } from "zod";
import { openEnum } from "./schema/fields.ts";

/** Codes that classify an error for users and for the retry decision (Gardener: types_common.go). */
export const errorCodes = [
  "ERR_INFRA_UNAUTHENTICATED",
  "ERR_INFRA_UNAUTHORIZED",
  "ERR_INFRA_QUOTA_EXCEEDED",
  "ERR_INFRA_RATE_LIMITS_EXCEEDED",
  "ERR_INFRA_DEPENDENCIES",
  "ERR_RETRYABLE_INFRA_DEPENDENCIES",
  "ERR_INFRA_RESOURCES_DEPLETED",
  "ERR_CLEANUP_CLUSTER_RESOURCES",
  "ERR_CONFIGURATION_PROBLEM",
  "ERR_RETRYABLE_CONFIGURATION_PROBLEM",
  "ERR_PROBLEMATIC_WEBHOOK",
] as const;

/** A code; one that is not known here is left as it is. */
export const errorCode = openEnum(...errorCodes);

/** One of Gardener's error codes. */
export type ErrorCode = z.infer<typeof errorCode>;

/**
 * Whether only a change by a user or an operator can mend an error of this code, so that retries alone are pointless.
 * Rate limits are retried with a back-off: upstream calls them non-retryable and then retries them from elsewhere.
 */
export function isNonRetryable(code: string): boolean {
  return nonRetryable.has(code);
}

const nonRetryable: ReadonlySet<string> = new Set<ErrorCode>([
  "ERR_INFRA_UNAUTHENTICATED",
  "ERR_INFRA_UNAUTHORIZED",
  "ERR_INFRA_QUOTA_EXCEEDED",
  "ERR_INFRA_DEPENDENCIES",
  "ERR_CONFIGURATION_PROBLEM",
  "ERR_PROBLEMATIC_WEBHOOK",
]);
