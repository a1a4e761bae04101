import type { KubeObject } from "../api/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { UserInfo } from "./review.ts";

/** Decides who may say on which Seed a Shoot runs. */
export type MayBind = (
  user: UserInfo,
  shoot: { readonly namespace: string; readonly name: string },
) => Promise<boolean>;

/**
 * Asks the API server whether a user may update `shoots/binding`: the permission that Gardener's API server asks for.
 * There the subresource takes the change; a CustomResourceDefinition has none, so it is the permission that counts.
 */
export function createBindingCheck(client: KubeClient): MayBind {
  return async (user, { namespace, name }) => {
    const review = await client.create<KubeObject>({
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      metadata: { name: "" },
      spec: {
        user: user.username,
        uid: user.uid,
        groups: user.groups,
        extra: user.extra,
        resourceAttributes: {
          group: "core.gardener.cloud",
          resource: "shoots",
          subresource: "binding",
          verb: "update",
          namespace,
          name,
        },
      },
    });
    return (review["status"] as { allowed?: boolean } | undefined)?.allowed === true;
  };
}
