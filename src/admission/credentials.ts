import { isDeepStrictEqual } from "node:util";
import { CredentialsBinding, SecretBinding, type KubeObject } from "../api/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Authorizer } from "./authorizer.ts";
import { referenceCauses, type NamedReference } from "./reference.ts";
import { judge, type Webhook } from "./review.ts";

/**
 * Judges CredentialsBindings and SecretBindings: their author has to be able to read the Secret that they name, because
 * the Shoots of the binding act with it. What has not changed is not judged again.
 */
export function createCredentialsValidator(deps: {
  readonly client: KubeClient;
  readonly authorize: Authorizer;
}): Webhook {
  return async ({ object, oldObject, kind, userInfo: user }) => {
    if (!object) return judge([]);
    const read = kind.kind === SecretBinding.kind ? readSecretBinding : readCredentialsBinding;
    const reference = read(object);
    if (object.metadata.deletionTimestamp !== undefined) return judge([]);
    if (oldObject && isDeepStrictEqual(reference, read(oldObject))) return judge([]);
    return judge(await referenceCauses({ ...deps, user }, reference, ["Secret"]));
  };
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
