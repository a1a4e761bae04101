import { configurationProblem } from "./step-error.ts";

/** A reference to credentials, as Seeds, bindings and Shoots write it. */
interface CredentialsReference {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/**
 * The Secret that a reference names, in `namespace` unless it says another; `who` is the object that refers, for errors.
 * Throws for a reference to anything else: a WorkloadIdentity and a Secret may bear the same name.
 */
export function referencedSecret(
  { apiVersion = "v1", kind = "Secret", ...ref }: CredentialsReference,
  { namespace, who }: { readonly namespace: string; readonly who: string },
): { readonly namespace: string; readonly name: string } {
  if (kind === "WorkloadIdentity")
    throw configurationProblem(
      `${who} names WorkloadIdentity ${ref.name}, but this garden issues no tokens: use a Secret`,
    );
  if (apiVersion !== "v1" || kind !== "Secret")
    throw configurationProblem(`${who} names ${kind} ${ref.name} of ${apiVersion}: credentials have to be in a Secret`);
  if (!ref.name) throw configurationProblem(`${who} names no Secret with credentials`);
  return { namespace: ref.namespace || namespace, name: ref.name };
}
