import type { Shoot } from "../../api/index.ts";
import { CredentialsBinding, SecretBinding } from "../../api/index.ts";
import type { KubeClient, Kind } from "../../kube/index.ts";
import { referenceCauses, type NamedReference, type Referable, type Referrer } from "../reference.ts";
import type { Cause } from "../review.ts";
import type { ShootChange } from "./change.ts";

/** Why something that the Shoot names cannot be used: it is not there, not the user's to read, or not meant for this provider. */
export async function shootReferenceCauses(referrer: Referrer, { shoot, old, profile }: ShootChange): Promise<Cause[]> {
  const { client } = referrer;
  const judged = newReferences(shoot, old).map((reference) => referenceCauses(referrer, reference, reference.allowed));
  return [
    ...(profile ? [] : profileCause(shoot)),
    ...(await credentialsCauses(client, shoot)),
    ...(await Promise.all(judged)).flat(),
  ];
}

function profileCause({ spec }: Shoot): Cause[] {
  const field = "spec.cloudProfile";
  if (!spec.cloudProfile) return [{ field, message: "must name a CloudProfile: see kubectl get cloudprofiles" }];
  const { kind, name } = spec.cloudProfile;
  return [{ field, message: `there is no ${kind} ${name}: see kubectl get cloudprofiles` }];
}

async function credentialsCauses(client: KubeClient, { spec, metadata }: Shoot): Promise<Cause[]> {
  const credentials = spec.credentialsBindingName;
  const [field, bindings, name]: readonly [string, Kind<Binding, "Namespaced">, string | undefined] = credentials
    ? ["spec.credentialsBindingName", CredentialsBinding, credentials]
    : ["spec.secretBindingName", SecretBinding, spec.secretBindingName];
  if (!name) {
    if ((spec.provider.workers ?? []).length === 0) return [];
    return [
      { field: "spec.credentialsBindingName", message: "must name a CredentialsBinding for a Shoot with workers" },
    ];
  }
  const { namespace } = metadata;
  const { kind } = bindings;
  const binding = await client.read(bindings, { name, namespace });
  if (!binding) return [{ field, message: `there is no ${kind} ${name} in namespace ${namespace}` }];
  const types = binding.provider?.type.split(",").map((type) => type.trim()) ?? [];
  if (types.includes(spec.provider.type)) return [];
  return [{ field, message: `${kind} ${name} is for provider ${types.join(", ")}, not for ${spec.provider.type}` }];
}

type Binding = CredentialsBinding | SecretBinding;

/** An object that a Shoot's own spec names, and of which kinds it may be. Only backups of a self-hosted Shoot may be in another namespace. */
type ShootReference = NamedReference & { readonly allowed: readonly [Referable, ...Referable[]] };

/** The objects that the Shoot's own spec names, and did not name before. */
export function newReferences(shoot: Shoot, old: Shoot | undefined): readonly ShootReference[] {
  const before = new Set(old ? references(old).map(identify) : []);
  return references(shoot).filter((reference) => !before.has(identify(reference)));
}

function references({ spec, metadata: { namespace } }: Shoot): ShootReference[] {
  const resources = (spec.resources ?? []).map(({ resourceRef }, index): ShootReference => {
    const { apiVersion = "v1", kind, name } = resourceRef;
    const field = `spec.resources[${index}].resourceRef`;
    return { field, apiVersion, kind, name, namespace, allowed: ["Secret", "ConfigMap"] };
  });
  const providers = (spec.dns?.providers ?? []).flatMap((provider, index): ShootReference[] => {
    const { secretName, credentialsRef } = provider;
    const { apiVersion = "v1", kind = "", name = "" } = credentialsRef ?? {}; // and no namespace: it counts in none but the Shoot's
    const field = `spec.dns.providers[${index}]`;
    const common = { namespace, apiVersion: "v1", kind: "Secret", allowed: ["Secret"] as const };
    return [
      ...(secretName ? [{ ...common, field: `${field}.secretName`, name: secretName }] : []),
      ...(credentialsRef ? [{ ...common, apiVersion, kind, name, field: `${field}.credentialsRef` }] : []),
    ];
  });
  const backups = (spec.provider.workers ?? []).flatMap(({ controlPlane }, index): ShootReference[] => {
    const { credentialsRef } = controlPlane?.backup ?? {};
    if (credentialsRef === undefined) return [];
    const { apiVersion = "v1", kind = "Secret", name = "", namespace: own = "" } = credentialsRef;
    const field = `spec.provider.workers[${index}].controlPlane.backup.credentialsRef`;
    return [{ field, apiVersion, kind, name, namespace: own || namespace, allowed: ["Secret"] }];
  });
  return [...resources, ...providers, ...backups];
}

const identify = ({ apiVersion, kind, namespace, name }: NamedReference): string =>
  JSON.stringify([apiVersion, kind, namespace, name]);
