import { EXPIRATION_ANNOTATION } from "../../api/annotations.ts";
import { profileReference, readEffectiveProfile } from "../../api/core/effective-profile.ts";
import { isSameKey, quotasOf, readQuotas } from "../../api/core/quotas-of.ts";
import { SecretBinding, type CloudProfile, type Quota, type Shoot } from "../../api/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { Cause } from "../review.ts";
import { keyOf, KnownCredentialsBinding, KnownSecretBinding, KnownShoot, type KnownBinding } from "../watched/known.ts";
import type { ShootChange } from "./change.ts";
import { lifetimeCauses, needsQuota, quotaCauses, type QuotaUse } from "./quota.ts";

/** Reads what the Quotas of the Shoot's binding leave, and says why the Shoot does not get along with that. */
export async function readQuotaCauses(client: KubeClient, { shoot, old, profile, now }: ShootChange): Promise<Cause[]> {
  const quotas = await readQuotas(client, shoot);
  if (quotas.length === 0) return [];
  const lifetime = lifetimeCauses(shoot, old, quotas, now);
  if (!needsQuota(shoot, old)) return lifetime;
  const uses = await readUses(client, shoot, quotas);
  return [...lifetime, ...quotaCauses({ shoot, profile }, uses)];
}

/** The same for a request that leaves the Shoot's spec as it is: only how long it lives can change. */
export async function lifetimeOnly(client: KubeClient, { shoot, old, now }: ShootChange): Promise<Cause[]> {
  const isSame =
    shoot.metadata.annotations?.[EXPIRATION_ANNOTATION] === old?.metadata.annotations?.[EXPIRATION_ANNOTATION];
  return isSame ? [] : lifetimeCauses(shoot, old, await readQuotas(client, shoot), now);
}

/** A Quota of a project counts the Shoots of the project, one of a Secret those of all bindings that name it. */
async function readUses(client: KubeClient, shoot: Shoot, quotas: readonly Quota[]): Promise<QuotaUse[]> {
  const [secretBindings, credentialsBindings, shoots] = await Promise.all([
    client.list(KnownSecretBinding),
    client.list(KnownCredentialsBinding),
    client.list(KnownShoot),
  ]);
  const profileOf = createProfileReader(client);
  const { namespace, name } = shoot.metadata;
  const uses = quotas.map(async (quota): Promise<QuotaUse> => {
    const naming = [...secretBindings, ...credentialsBindings].filter((binding) =>
      quotasOf(binding).some((key) => isSameKey(key, quota.metadata)),
    );
    const others = shoots
      .filter((other) => !isSameKey(other.metadata, { namespace, name }))
      .filter((other) => quota.spec.scope.kind !== "Project" || other.metadata.namespace === namespace)
      .filter((other) => naming.some((binding) => isBoundBy(other, binding)));
    const consumers = others.map(async (other) => ({
      shoot: other,
      profile: await profileOf(other),
    }));
    const byKey = Map.groupBy(await Promise.all(consumers), ({ shoot: { metadata } }) => keyOf(metadata));
    return { quota, others: [...byKey.values()] };
  });
  return Promise.all(uses);
}

function isBoundBy({ spec, metadata }: KnownShoot, binding: KnownBinding): boolean {
  const name = binding.kind === SecretBinding.kind ? spec.secretBindingName : spec.credentialsBindingName;
  return name !== undefined && isSameKey({ namespace: metadata.namespace, name }, binding.metadata);
}

/** Reads each profile once. */
function createProfileReader(client: KubeClient) {
  const read = new Map<string, Promise<CloudProfile | undefined>>();
  return (shoot: KnownShoot): Promise<CloudProfile | undefined> => {
    const { kind = "", name = "" } = profileReference(shoot) ?? {};
    const key = JSON.stringify([kind, name, kind === "NamespacedCloudProfile" ? shoot.metadata.namespace : ""]);
    const known = read.get(key) ?? readEffectiveProfile(client, shoot);
    read.set(key, known);
    return known;
  };
}
