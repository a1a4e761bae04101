import type { AppliedKind, Purpose } from "../../api/extensions/kinds.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import type { ObjectRef } from "../../kube/index.ts";
import type { WaitTarget } from "../index.ts";

/** With what it is found out whether credentials may have been mended, and with what they are copied. */
export interface MendedCredentialsDeps {
  /** An extension object as a watch has it. */
  readonly seen: (ref: ObjectRef) => KubeObject | undefined;
  /** The Shoot's objects of a kind in the seed. */
  readonly list: (run: ShootRun, kind: AppliedKind) => Promise<readonly KubeObject[]>;
  /** Copies the user's credentials for the provider, as they are now. */
  readonly copy: (run: ShootRun) => Promise<void>;
  /** Copies the Secrets and ConfigMaps that the Shoot names for its extensions, as they are now. */
  readonly copyReferences: (run: ShootRun) => Promise<void>;
  /** Copies the DNS provider's credentials beside a DNSRecord that is still there, as they are now. */
  readonly copyDns: (run: ShootRun, purpose: Purpose | undefined) => Promise<void>;
}

type AskExtension = (run: ShootRun, kind: AppliedKind, step: string, purpose?: Purpose) => Promise<WaitTarget[]>;

/**
 * The same, but a controller that has failed is asked again with the credentials, and with what the Shoot names for its extensions, as
 * they are now: a user may have mended them. The step that copies them lies behind, and is not repeated. The end of a DNSRecord is asked
 * for with its credentials as they are now each time: no step of a deletion copies them. A deletion does not depend on any of that, and
 * force deploys nothing.
 */
export function withMendedCredentials(deps: MendedCredentialsDeps, ask: AskExtension): AskExtension {
  return async (run, kind, step, purpose) => {
    if (run.forced !== true) for (const copy of await copiesFor(deps, run, kind, purpose)) await attempt(run, copy);
    return await ask(run, kind, step, purpose);
  };
}

async function attempt(run: ShootRun, copy: () => Promise<void>): Promise<void> {
  try {
    await copy();
  } catch (error) {
    if (run.operation !== "Delete") throw error; // what is being deleted goes with the credentials that it has
  }
}

async function copiesFor(
  deps: MendedCredentialsDeps,
  run: ShootRun,
  kind: AppliedKind,
  purpose: Purpose | undefined,
): Promise<(() => Promise<void>)[]> {
  if (kind === "DNSRecord") return run.operation === "Delete" ? [() => deps.copyDns(run, purpose)] : [];
  const copies = [
    ...(run.hasCredentials && readers.has(kind) ? [() => deps.copy(run)] : []),
    ...(run.hasReferences === true && kind !== "BackupEntry" ? [() => deps.copyReferences(run)] : []),
  ];
  return copies.length > 0 && (await objectsOf(deps, run, kind)).some(hasFailed) ? copies : [];
}

/** The kinds whose objects name the copied credentials. */
const readers: ReadonlySet<AppliedKind> = new Set(["Infrastructure", "ControlPlane", "Worker"]);

/** A watch knows the one that bears the Shoot's name. */
async function objectsOf(
  { seen, list }: MendedCredentialsDeps,
  run: ShootRun,
  kind: AppliedKind,
): Promise<readonly (KubeObject | undefined)[]> {
  if (!readers.has(kind) && kind !== "Network") return await list(run, kind);
  const { name, technicalID: namespace } = run;
  return [seen({ apiVersion: "extensions.gardener.cloud/v1alpha1", kind, name, namespace })];
}

function hasFailed(object: KubeObject | undefined): boolean {
  const { lastError, lastOperation } = (object?.["status"] ?? {}) as {
    readonly lastError?: object;
    readonly lastOperation?: { readonly state?: string };
  };
  return lastError !== undefined || ["Error", "Failed"].includes(lastOperation?.state ?? "");
}
