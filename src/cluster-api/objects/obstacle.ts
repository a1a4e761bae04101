import { KubeError } from "../../kube/index.ts";

/** Why something cannot be as it is wanted: a reason for a condition, in one CamelCase word, and a sentence. */
export interface Obstacle {
  readonly reason: string;
  readonly message: string;
}

/** What admission or the schema says no to; anything else is tried again. */
export const isRefusal = (error: unknown): error is KubeError =>
  error instanceof KubeError && [400, 403, 422].includes(error.status);

/** The outcome of work that something stands against. */
export const obstacle = (reason: string, message: string): { readonly obstacle: Obstacle } => ({
  obstacle: { reason, message },
});
