import { listed } from "../api/counted.ts";
import { isDeepStrictEqual } from "node:util";
import { CredentialsBinding, SecretBinding, Shoot, type KubeObject } from "../api/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Authorizer } from "./authorizer.ts";
import { referenceCauses, type NamedReference } from "./reference.ts";
import { losesFinalizer } from "./finalizer.ts";
import { judge, type Cause, type Webhook } from "./review.ts";

/**
 * Judges CredentialsBindings and SecretBindings: their author has to be able to read the Secret that they name, because
 * the Shoots of the binding act with it. What has not changed is not judged again.
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
    const reference = read(object);
    if (object.metadata.deletionTimestamp !== undefined) return judge([]);
    if (oldObject && isDeepStrictEqual(reference, read(oldObject))) return judge([]);
    return judge(await referenceCauses({ ...deps, user }, reference, ["Secret"]));
  };
}

/** A binding that a Shoot names cannot lose its finalizer: with it would go what the Shoot acts with. */
async function finalizerCauses(client: KubeClient, { kind, metadata }: KubeObject): Promise<Cause[]> {
  const { name, namespace } = metadata;
  const field = kind === SecretBinding.kind ? "secretBindingName" : "credentialsBindingName";
  const shoots = namespace === undefined ? [] : await client.list(Shoot, { namespace });
  const users = shoots.filter(({ spec }) => spec[field] === name).map(({ metadata: { name } }) => name);
  if (users.length === 0) return [];
  const message = `gardener cannot be removed while Shoot ${listed(users, 10)} needs the binding`;
  return [{ field: "metadata.finalizers", message, forbidden: true }];
}

function readCredentialsBinding(object: KubeObject): NamedReference {
  const { credentialsRef, metadata } = CredentialsBinding.parse(object);
  const { apiVersion = "v1", kind = "Secret", name = "", namespace = "" } = credentialsRef;
  return { field: "credentialsRef", apiVersion, kind, name, namespace: namespace || metadata.namespace };
}

function readSecretBinding(object: KubeObject): NamedReference {
  const { secretRef, metadata } = SecretBinding.parse(object);
  const { name = "", namespace = "" } = secretRef;
  return { field: "secretRef", apiVersion: "v1", kind: "Secret", name, namespace: namespace || metadata.namespace };
}
