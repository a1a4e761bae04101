import { NAMESPACE } from "./control-plane.ts";
import { OperatorError } from "../steps/fault.ts";

/** Throws: nodes and users of a cluster that exists know it by these Secrets, and others in their place would lock all of them out. */
export async function refuseNewKeys(names: readonly string[]): Promise<never> {
  return await Promise.reject(
    new OperatorError(
      `Secrets ${names.join(", ")} are gone from namespace ${NAMESPACE}, and new ones would lock out nodes and users: put them back from the files in /var/lib/static-pods`,
    ),
  );
}
