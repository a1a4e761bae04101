import { extensionKinds } from "../../api/extensions/kinds.ts";
import { ControllerRegistration, CredentialsBinding, SecretBinding, Shoot } from "../../api/index.ts";
import type { KubeClient, Kind } from "../../kube/index.ts";
import type { Cause } from "../review.ts";
import type { ShootChange } from "./change.ts";

/** Why something that the Shoot names cannot be used: it is not there, or not meant for this provider. */
export async function referenceCauses(client: KubeClient, { shoot, old, profile }: ShootChange): Promise<Cause[]> {
  return [
    ...(profile ? [] : profileCause(shoot)),
    ...(await credentialsCauses(client, shoot)),
    ...(await resourceCauses(client, shoot)),
    ...(old?.spec.dns?.domain === shoot.spec.dns?.domain ? [] : await domainCauses(client, shoot)),
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

async function resourceCauses(client: KubeClient, { spec, metadata }: Shoot): Promise<Cause[]> {
  const { namespace } = metadata;
  const causes = (spec.resources ?? []).map(async ({ resourceRef }, index): Promise<Cause[]> => {
    const { apiVersion = "v1", kind, name } = resourceRef;
    if (await client.read({ apiVersion, kind, name, namespace })) return [];
    const message = `there is no ${kind} ${name} in namespace ${namespace}`;
    return [{ field: `spec.resources[${index}].resourceRef`, message }];
  });
  return (await Promise.all(causes)).flat();
}

async function domainCauses(client: KubeClient, { spec, metadata }: Shoot): Promise<Cause[]> {
  const domain = spec.dns?.domain;
  if (!domain) return [];
  const shoots = await client.list(Shoot);
  const others = shoots.filter((other) => other.metadata.uid !== metadata.uid || metadata.uid === undefined);
  const clash = others.find(
    (other) => isWithin(domain, other.spec.dns?.domain) || isWithin(other.spec.dns?.domain, domain),
  );
  if (!clash || (clash.metadata.name === metadata.name && clash.metadata.namespace === metadata.namespace)) return [];
  return [{ field: "spec.dns.domain", message: `${domain} overlaps with the domain of another Shoot: choose another` }];
}

function isWithin(domain: string | undefined, parent: string | undefined): boolean {
  return !!domain && !!parent && (domain === parent || domain.endsWith(`.${parent}`));
}

/** Warnings about kinds and types of extensions that the Shoot needs and for which no ControllerRegistration exists. */
export async function missingExtensions(client: KubeClient, shoot: Shoot): Promise<string[]> {
  const registrations = await client.list(ControllerRegistration);
  const offered = registrations.flatMap(({ spec }) => spec.resources ?? []).filter(({ primary }) => primary !== false);
  return neededExtensions(shoot)
    .filter((needed) => !offered.some((offer) => offer.kind === needed.kind && offer.type === needed.type))
    .map(({ kind, type }) => `no ControllerRegistration is in charge of ${kind} of type ${type}`);
}

/** The kinds and types that the Shoot needs, as far as their contracts have admission ask for them. */
function neededExtensions(shoot: Shoot): { kind: string; type: string }[] {
  const hasWorkers = (shoot.spec.provider.workers ?? []).length > 0;
  return Object.values(extensionKinds).flatMap(({ kind, contract }) => {
    if (contract.admission === "none" || (contract.admission === "workers" && !hasWorkers)) return [];
    return [...new Set(contract.types({ shoot, seed: undefined }))].map((type) => ({ kind, type }));
  });
}
