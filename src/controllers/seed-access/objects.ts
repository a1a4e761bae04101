import { isDeepStrictEqual } from "node:util";
import { SEED_ACCESS_LABEL } from "../../api/labels.ts";
import { SEED_IDENTITIES_NAMESPACE } from "../../api/names.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding, typeMeta } from "../../kube/index.ts";
import type { Rights } from "./rights.ts";

/** The grants that there are; docs/decisions/0015-seed-rights.md says from which fields each follows, and who writes these. */
export type GrantName =
  | "backup-bucket"
  | "backup-entry"
  | "bastion"
  | "coming-shoot"
  | "installation"
  | "leaving-shoot"
  | "left-shoot"
  | "seed"
  | "shoot";

/** Rights that these Seeds are given; `name` tells them from other rights on the same object. */
export interface Grant {
  readonly name: `${GrantName}:${string}`;
  readonly seeds: readonly string[];
  readonly rights: readonly Rights[];
}

/** The roles and bindings of grants. `id` is the label by which the grants of an object are found again. */
export function accessObjects(id: string, grants: readonly Grant[]): KubeObject[] {
  return grants
    .filter(({ seeds }) => seeds.length > 0)
    .flatMap(({ name, seeds, rights }) => rights.flatMap((one) => roleAndBinding(id, `perennial:${name}`, one, seeds)));
}

function roleAndBinding(
  id: string,
  name: string,
  { namespace, rules }: Rights,
  seeds: readonly string[],
): KubeObject[] {
  const [role, binding] = namespace === undefined ? [ClusterRole, ClusterRoleBinding] : [Role, RoleBinding];
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }), labels: { [SEED_ACCESS_LABEL]: id } };
  return [
    { ...typeMeta(role), metadata, rules },
    { ...typeMeta(binding), metadata, ...bindingTo(role.kind, name, seeds) },
  ];
}

const apiGroup = "rbac.authorization.k8s.io";

const bindingTo = (kind: string, name: string, seeds: readonly string[]) => ({
  roleRef: { apiGroup, kind, name },
  subjects: seeds.map((seed) => ({ kind: "ServiceAccount", namespace: SEED_IDENTITIES_NAMESPACE, name: seed })),
});

/** Whether an object grants already what the wanted one does. */
export function grantsSame(existing: KubeObject | undefined, wanted: KubeObject): boolean {
  return (["rules", "roleRef", "subjects"] as const).every((field) =>
    isDeepStrictEqual(existing?.[field], wanted[field]),
  );
}

/** Names an object among all roles and bindings. */
export const keyOfAccess = ({ kind, metadata: { namespace = "", name } }: KubeObject): string =>
  `${kind}/${namespace}/${name}`;
