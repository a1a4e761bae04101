import { Quota } from "../api/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Authorizer } from "./authorizer.ts";
import type { Cause, UserInfo } from "./review.ts";

/** Who refers to something, and with what the reference is judged. */
export interface Referrer {
  readonly client: KubeClient;
  readonly authorize: Authorizer;
  readonly user: UserInfo;
}

/** A reference to an object, and the field that it is written in. */
export interface NamedReference {
  readonly field: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** The kinds that users refer to. */
const referable = {
  Secret: { apiVersion: "v1", group: "", resource: "secrets" },
  ConfigMap: { apiVersion: "v1", group: "", resource: "configmaps" },
  Quota: { apiVersion: Quota.apiVersion, group: Quota.group, resource: Quota.plural },
} as const;

/** A kind that users may refer to. */
export type Referable = keyof typeof referable;

/**
 * Why a user may not refer to an object: its kind is not one of `allowed`, the user may not read it, or it does not exist.
 * A user who may not read it does not learn whether it exists (Gardener: ResourceReferenceManager).
 */
export async function referenceCauses(
  { client, authorize, user }: Referrer,
  reference: NamedReference,
  allowed: readonly [Referable, ...Referable[]],
): Promise<Cause[]> {
  const { field, apiVersion, kind, namespace, name } = reference;
  const wrong = kindCauses(reference, allowed);
  if (wrong.length > 0) return wrong;
  if (!isName(name) || !isName(namespace)) return [{ field: `${field}.name`, message: `must name a ${kind}` }];
  if (!(await mayRead({ authorize, user }, reference))) {
    return [{ field, message: `you may not read ${kind} ${namespace}/${name}`, forbidden: true }];
  }
  if (await client.read({ apiVersion, kind, name, namespace })) return [];
  return [{ field, message: `there is no ${kind} ${namespace}/${name}` }];
}

/** Whether a user may read what is referred to; never, if its kind is none that users refer to. */
export async function mayRead(
  { authorize, user }: Pick<Referrer, "authorize" | "user">,
  { kind, namespace, name }: Pick<NamedReference, "kind" | "namespace" | "name">,
): Promise<boolean> {
  if (!isReferable(kind)) return false;
  const { group, resource } = referable[kind];
  return await authorize(user, { group, resource, verb: "get", namespace, name });
}

const isReferable = (kind: string): kind is Referable => Object.hasOwn(referable, kind);

function kindCauses(
  { field, apiVersion, kind }: NamedReference,
  allowed: readonly [Referable, ...Referable[]],
): Cause[] {
  if (kind === "WorkloadIdentity") {
    const message = "this garden issues no tokens for a WorkloadIdentity: use a Secret";
    return [{ field, message }];
  }
  if (allowed.some((one) => one === kind && referable[one].apiVersion === apiVersion)) return [];
  return [{ field, message: `must be a ${allowed.join(" or a ")} (${referable[allowed[0]].apiVersion})` }];
}

/** Whether a text is a DNS subdomain, as the names of Secrets, ConfigMaps and namespaces are. */
function isName(text: string): boolean {
  return text.length <= 253 && text.split(".").every((label) => /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(label));
}
