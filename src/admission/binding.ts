import type { Authorizer } from "./authorizer.ts";
import type { UserInfo } from "./review.ts";

/** Decides who may say on which Seed a Shoot runs. */
export type MayBind = (
  user: UserInfo,
  shoot: { readonly namespace: string; readonly name: string },
) => Promise<boolean>;

/**
 * Asks whether a user may update `shoots/binding`: the permission that Gardener's API server asks for. There the
 * subresource takes the change; a CustomResourceDefinition has none, so it is the permission that counts.
 */
export function createBindingCheck(authorize: Authorizer): MayBind {
  return (user, { namespace, name }) =>
    authorize(user, {
      ...{ group: "core.gardener.cloud", resource: "shoots", subresource: "binding", verb: "update" },
      ...{ namespace, name },
    });
}
