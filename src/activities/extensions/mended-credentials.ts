import type { AppliedKind, Purpose } from "../../api/extensions/kinds.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import type { ObjectRef } from "../../kube/index.ts";
import type { WaitTarget } from "../index.ts";

/** With what it is found out whether credentials may have been mended, and with what they are copied. */
export interface MendedCredentialsDeps {
  /** An extension object as a watch has it. */
  readonly seen: (ref: ObjectRef) => KubeObject | undefined;
  /** Copies the user's credentials for the provider, as they are now. */
  readonly copy: (run: ShootRun) => Promise<void>;
}

type AskExtension = (run: ShootRun, kind: AppliedKind, step: string, purpose?: Purpose) => Promise<WaitTarget[]>;

/**
 * The same, but a controller that has failed is asked again with the credentials as they are now: a user may have mended
 * them. The step that copies them lies behind, and is not repeated. A deletion does not depend on that, and force deploys nothing.
 */
export function withMendedCredentials({ seen, copy }: MendedCredentialsDeps, ask: AskExtension): AskExtension {
  const copyFor = async (run: ShootRun) => {
    if (run.forced === true) return;
    try {
      await copy(run);
    } catch (error) {
      if (run.operation !== "Delete") throw error; // what is being deleted goes with the credentials that it has
    }
  };
  return async (run, kind, step, purpose) => {
    const { name, technicalID: namespace } = run;
    const isTheirs = run.hasCredentials && readers.has(kind);
    if (isTheirs && hasFailed(seen({ apiVersion: "extensions.gardener.cloud/v1alpha1", kind, name, namespace })))
      await copyFor(run);
    return await ask(run, kind, step, purpose);
  };
}

/** The kinds whose objects name the copied credentials. */
const readers: ReadonlySet<AppliedKind> = new Set(["Infrastructure", "ControlPlane", "Worker"]);

function hasFailed(object: KubeObject | undefined): boolean {
  const { lastError, lastOperation } = (object?.["status"] ?? {}) as {
    readonly lastError?: object;
    readonly lastOperation?: { readonly state?: string };
  };
  return lastError !== undefined || ["Error", "Failed"].includes(lastOperation?.state ?? "");
}
