import { CredentialsBinding, SecretBinding } from "../../api/index.ts";
import type { Referrer } from "../reference.ts";
import type { Cause } from "../review.ts";
import type { ShootChange } from "./change.ts";

/**
 * Why the Shoot cannot act with other credentials: a SecretBinding may only give way to a CredentialsBinding of the same
 * Secret, and who exchanges the credentials has to be able to read both (Gardener: validateCredentialsBindingChange).
 */
export async function credentialsChangeCauses(referrer: Referrer, { shoot, old }: ShootChange): Promise<Cause[]> {
  const { namespace } = shoot.metadata;
  const [was, is] = [old?.spec, shoot.spec];
  if (was?.secretBindingName && is.secretBindingName !== was.secretBindingName) {
    if (is.secretBindingName || !is.credentialsBindingName) return [refuse("secretBindingName", onlyMigration)];
    return migrationCauses(referrer, namespace, was.secretBindingName, is.credentialsBindingName);
  }
  if (!was?.credentialsBindingName || is.credentialsBindingName === was.credentialsBindingName) return [];
  if (!is.credentialsBindingName) return [refuse("credentialsBindingName", "cannot be removed")];
  return readCauses(referrer, namespace, [was.credentialsBindingName, is.credentialsBindingName]);
}

/** What is missing is said by the rules for references. */
async function migrationCauses({ client }: Referrer, namespace: string, from: string, to: string): Promise<Cause[]> {
  const before = await client.read(SecretBinding, { namespace, name: from });
  const after = await client.read(CredentialsBinding, { namespace, name: to });
  if (before === undefined || after === undefined) return [];
  const isSame = keyOf(before.secretRef, namespace) === keyOf(after.credentialsRef, namespace);
  if (isSame && (after.credentialsRef.kind ?? "Secret") === "Secret") return [];
  return [refuse("credentialsBindingName", "must name the Secret that the SecretBinding named before")];
}

const onlyMigration = "cannot be changed: set credentialsBindingName in its place";

async function readCauses(
  { client, authorize, user }: Referrer,
  namespace: string,
  names: readonly string[],
): Promise<Cause[]> {
  const causes = names.map(async (name): Promise<Cause[]> => {
    const { credentialsRef } = (await client.read(CredentialsBinding, { namespace, name })) ?? {};
    if (!credentialsRef?.name || (credentialsRef.kind ?? "Secret") !== "Secret") return [];
    const secret = { namespace: credentialsRef.namespace || namespace, name: credentialsRef.name };
    if (await authorize(user, { group: "", resource: "secrets", verb: "get", ...secret })) return [];
    return [
      refuse("credentialsBindingName", `you may not read Secret ${secret.namespace}/${secret.name} of binding ${name}`),
    ];
  });
  return (await Promise.all(causes)).flat();
}

interface SecretName {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

const keyOf = (ref: SecretName | undefined, own: string): string => `${ref?.namespace || own}/${ref?.name ?? ""}`;

const refuse = (field: string, message: string): Cause => ({ field: `spec.${field}`, message, forbidden: true });
