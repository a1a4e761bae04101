import { isDeepStrictEqual } from "node:util";
import { EXPIRATION_ANNOTATION } from "../../api/annotations.ts";
import { profileReference, readEffectiveProfile } from "../../api/core/effective-profile.ts";
import { isSameKey, quotasOf, readQuotas } from "../../api/core/quotas-of.ts";
import {
  CloudProfile,
  CredentialsBinding,
  NamespacedCloudProfile,
  SecretBinding,
  type Quota,
  type Shoot,
} from "../../api/index.ts";
import type { KubeClient, NamespacedKey } from "../../kube/index.ts";
import type { Cause } from "../review.ts";
import { keyOf, KnownCredentialsBinding, KnownSecretBinding, KnownShoot, type KnownBinding } from "../watched/known.ts";
import type { ShootChange } from "./change.ts";
import { lifetimeCauses, needsQuota, quotaCauses, type Consumer, type QuotaUse } from "./quota.ts";

/** Reads what the Quotas of the Shoot's binding leave, and says why the Shoot does not get along with that. */
export async function readQuotaCauses(client: KubeClient, change: ShootChange): Promise<Cause[]> {
  const { shoot, now } = change;
  const quotas = await readQuotas(client, shoot);
  if (quotas.length === 0) return [];
  const old = await readCounted(client, change, quotas);
  const lifetime = lifetimeCauses(shoot, old, quotas, now);
  if (!needsQuota(shoot, old)) return lifetime;
  const sizesOf = createSizeReader(client);
  const profile = await sizesOf(shoot);
  const uses = await readUses(client, shoot, quotas, sizesOf);
  return [...lifetime, ...sizelessCauses(shoot, old, profile), ...quotaCauses({ shoot, profile }, uses)];
}

/** The Shoot as it was, where these Quotas held for it: to those of another binding it is new, with all that it has. */
async function readCounted(
  client: KubeClient,
  { shoot, old }: ShootChange,
  quotas: readonly Quota[],
): Promise<Shoot | undefined> {
  if (old === undefined || isDeepStrictEqual(bindingsOf(old), bindingsOf(shoot))) return old;
  const held = await readQuotas(client, old);
  return quotas.every(({ metadata }) => held.some((one) => isSameKey(one.metadata, metadata))) ? old : undefined;
}

const bindingsOf = ({ spec }: Shoot) => [spec.secretBindingName, spec.credentialsBindingName];

/** The same for a request that leaves the Shoot's spec as it is: only how long it lives can change. */
export async function lifetimeOnly(client: KubeClient, { shoot, old, now }: ShootChange): Promise<Cause[]> {
  const isSame =
    shoot.metadata.annotations?.[EXPIRATION_ANNOTATION] === old?.metadata.annotations?.[EXPIRATION_ANNOTATION];
  return isSame ? [] : lifetimeCauses(shoot, old, await readQuotas(client, shoot), now);
}

/** A Quota of a project counts the Shoots of the project, one of a Secret those of all bindings that name it. */
async function readUses(
  client: KubeClient,
  shoot: Shoot,
  quotas: readonly Quota[],
  sizesOf: SizeReader,
): Promise<QuotaUse[]> {
  const [secretBindings, credentialsBindings, shoots] = await Promise.all([
    client.list(KnownSecretBinding),
    client.list(KnownCredentialsBinding),
    client.list(KnownShoot),
  ]);
  const { namespace } = shoot.metadata;
  const naming = bindingsByQuota([...secretBindings, ...credentialsBindings]);
  const consumerOf = createConsumers(sizesOf);
  const candidates = shoots
    .filter(({ metadata }) => !isSameKey(metadata, shoot.metadata))
    .map((other) => ({ other, bindings: boundBy(other) }));
  const uses = quotas.map(async (quota): Promise<QuotaUse> => {
    const named = naming.get(keyOf(quota.metadata));
    const others = candidates
      .filter(({ other }) => quota.spec.scope.kind !== "Project" || other.metadata.namespace === namespace)
      .filter(({ bindings }) => bindings.some((key) => named?.has(key)));
    const consumers = await Promise.all(others.map(({ other }) => consumerOf(other)));
    return { quota, others: [...Map.groupBy(consumers, ({ shoot: { metadata } }) => keyOf(metadata)).values()] };
  });
  return Promise.all(uses);
}

/** The bindings that name each Quota. A project makes as many as it likes: each is gone through once. */
function bindingsByQuota(bindings: readonly KnownBinding[]): ReadonlyMap<string, ReadonlySet<string>> {
  const named = new Map<string, Set<string>>();
  for (const binding of bindings) {
    const key = bindingKey(binding.kind, binding.metadata);
    for (const quota of quotasOf(binding).map(keyOf)) named.set(quota, (named.get(quota) ?? new Set()).add(key));
  }
  return named;
}

/** The bindings that a Shoot names. */
const boundBy = ({ spec, metadata: { namespace } }: KnownShoot): string[] => [
  ...(spec.secretBindingName ? [bindingKey(SecretBinding.kind, { namespace, name: spec.secretBindingName })] : []),
  ...(spec.credentialsBindingName
    ? [bindingKey(CredentialsBinding.kind, { namespace, name: spec.credentialsBindingName })]
    : []),
];

const bindingKey = (kind: string, key: Partial<NamespacedKey> & Pick<NamespacedKey, "name">): string =>
  `${kind}/${keyOf(key)}`;

/** Says what a Shoot can be made of; the same consumer for each of its Quotas. */
function createConsumers(sizesOf: SizeReader) {
  const known = new Map<KnownShoot, Promise<Consumer & { readonly shoot: KnownShoot }>>();
  return (shoot: KnownShoot) => {
    const consumer = known.get(shoot) ?? sizesOf(shoot).then((profile) => ({ shoot, profile }));
    known.set(shoot, consumer);
    return consumer;
  };
}

/** Why a Shoot with a Quota cannot have machines that its project has described itself, or more of them than it had. */
function sizelessCauses(shoot: Shoot, old: Shoot | undefined, sizes: CloudProfile | undefined): Cause[] {
  if (profileReference(shoot)?.kind !== NamespacedCloudProfile.kind || sizes === undefined) return [];
  const known = new Set(sizes.spec.machineTypes.map(({ name }) => name));
  const hadOf = (name: string) => old?.spec.provider.workers?.find((pool) => pool.name === name);
  return (shoot.spec.provider.workers ?? []).flatMap(({ name, maximum, machine: { type } }, index): Cause[] => {
    const had = hadOf(name);
    if (known.has(type) || (had?.machine.type === type && maximum <= had.maximum)) return [];
    const field = `spec.provider.workers[${index}].machine.type`;
    const message = `${type} is a type of the project's own, whose size no Quota knows: choose one of CloudProfile ${sizes.metadata.name}`;
    return [{ field, message, forbidden: true }];
  });
}

/** Says by which profile a Shoot's machines and volumes count. */
type SizeReader = (shoot: KnownShoot | Shoot) => Promise<CloudProfile | undefined>;

/**
 * Reads the CloudProfile of each Shoot once: who may write a NamespacedCloudProfile could say there that machines and volumes are
 * smaller than they are.
 */
function createSizeReader(client: KubeClient): SizeReader {
  const read = new Map<string, Promise<CloudProfile | undefined>>();
  return (shoot) => {
    const { namespace } = shoot.metadata;
    const { kind = "", name = "" } = profileReference(shoot) ?? {};
    const isOwn = kind === NamespacedCloudProfile.kind;
    const key = JSON.stringify([kind, name, isOwn ? namespace : ""]);
    const known =
      read.get(key) ?? (isOwn ? readParent(client, { namespace, name }) : readEffectiveProfile(client, shoot));
    read.set(key, known);
    return known;
  };
}

async function readParent(client: KubeClient, key: NamespacedKey): Promise<CloudProfile | undefined> {
  const own = await client.read(NamespacedCloudProfile, key);
  return own && (await client.read(CloudProfile, { name: own.spec.parent.name }));
}
