import { listed } from "../api/counted.ts";
import { CredentialsBinding, Quota, SecretBinding, type KubeObject } from "../api/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Authorizer } from "./authorizer.ts";
import { referenceCauses, type NamedReference, type Referable } from "./reference.ts";
import { losesFinalizer } from "./finalizer.ts";
import { KnownShoot } from "./watched/known.ts";
import { judge, type Cause, type Webhook } from "./review.ts";

/**
 * Judges CredentialsBindings and SecretBindings: their author must be allowed to read the Secret and the Quotas that they name,
 * because the Shoots of the binding act with the one and use up the others. This also holds for a binding that is being deleted,
 * which its Shoots keep. References that have not changed are not judged again.
 */
export function createCredentialsValidator(deps: {
  readonly client: KubeClient;
  readonly authorize: Authorizer;
}): Webhook {
  return async (request) => {
    const { object, oldObject, kind, userInfo: user } = request;
    if (!object) return judge([]);
    const kept = losesFinalizer(request) ? await finalizerCauses(deps.client, object) : [];
    if (kept.length > 0) return judge(kept);
    const read = kind.kind === SecretBinding.kind ? readSecretBinding : readCredentialsBinding;
    const before = new Set(oldObject ? read(oldObject).map(targetOf) : []);
    const judged = read(object)
      .filter((reference) => !before.has(targetOf(reference)))
      .map((reference) => referenceCauses({ ...deps, user }, reference, reference.allowed));
    return judge((await Promise.all(judged)).flat());
  };
}

/** A binding that a Shoot names cannot lose its finalizer: with it would go what the Shoot acts with. */
async function finalizerCauses(client: KubeClient, { kind, metadata }: KubeObject): Promise<Cause[]> {
  const { name, namespace } = metadata;
  const field = kind === SecretBinding.kind ? "secretBindingName" : "credentialsBindingName";
  const shoots = namespace === undefined ? [] : await client.list(KnownShoot, { namespace });
  const users = new Set(shoots.filter(({ spec }) => spec[field] === name).map(({ metadata: { name } }) => name));
  if (users.size === 0) return [];
  const message = `gardener cannot be removed while Shoot ${listed([...users], 10)} needs the binding`;
  return [{ field: "metadata.finalizers", message, forbidden: true }];
}

/** An object that a binding names, and the kind that it must be of. */
type BindingReference = NamedReference & { readonly allowed: readonly [Referable] };

function readCredentialsBinding(object: KubeObject): BindingReference[] {
  const binding = CredentialsBinding.parse(object);
  const { apiVersion = "v1", kind = "Secret", name = "", namespace = "" } = binding.credentialsRef;
  const target = { apiVersion, kind, name, namespace: namespace || binding.metadata.namespace };
  return [{ field: "credentialsRef", ...target, allowed: ["Secret"] }, ...quotaReferences(binding)];
}

function readSecretBinding(object: KubeObject): BindingReference[] {
  const binding = SecretBinding.parse(object);
  const { name = "", namespace = "" } = binding.secretRef;
  const target = { apiVersion: "v1", kind: "Secret", name, namespace: namespace || binding.metadata.namespace };
  return [{ field: "secretRef", ...target, allowed: ["Secret"] }, ...quotaReferences(binding)];
}

/** A reference to a Quota counts as one whatever kind it states: so it is read. */
function quotaReferences({ quotas = [], metadata }: CredentialsBinding | SecretBinding): BindingReference[] {
  return quotas.map(({ name = "", namespace = "" }, index) => ({
    ...{ field: `quotas[${index}]`, apiVersion: Quota.apiVersion, kind: Quota.kind, name, allowed: ["Quota"] },
    namespace: namespace || metadata.namespace,
  }));
}

const targetOf = ({ apiVersion, kind, namespace, name }: NamedReference): string =>
  JSON.stringify([apiVersion, kind, namespace, name]);
