import { z } from "zod";
import { KubeError } from "../kube/index.ts";
import { judge, type Cause, type Webhook } from "./review.ts";

/**
 * Answers what cannot be read with a refusal that names the fields, as the schema's own. An API server asks about defaults
 * before it checks the schema, and an older object may not have the form that its kind has by now.
 */
export function refuseMalformed(webhook: Webhook): Webhook {
  return async (request) => {
    try {
      return await webhook(request);
    } catch (error) {
      const causes = malformations(error);
      if (causes.length === 0) throw error;
      return judge(causes);
    }
  };
}

function malformations(error: unknown): Cause[] {
  if (error instanceof z.ZodError)
    return error.issues.slice(0, mostNamed).map(({ path, message }) => ({ field: fieldOf(path), message }));
  // A name that cannot be asked for: no object can bear it.
  if (error instanceof KubeError && error.reason === "BadRequest") return [{ field: "spec", message: error.message }];
  return [];
}

/** A refusal is for people. */
const mostNamed = 20;

function fieldOf(path: readonly PropertyKey[]): string {
  const steps = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step).slice(0, 80)}`));
  return steps.join("").replace(/^\./, "");
}
