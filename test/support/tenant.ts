import type { KubeClient } from "../../src/kube/index.ts";
import type { ControlPlane } from "./control-plane.ts";
import { clientOfAccount } from "./service-account.ts";

const rbac = "rbac.authorization.k8s.io";

/** A client of a user who has all rights in one namespace, which is there, and none elsewhere: its service account of this name. */
export async function startTenant(
  cluster: Pick<ControlPlane, "client" | "kubeconfig">,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<KubeClient> {
  const { client } = cluster;
  await client.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace } });
  const everything = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
  const all = { name: "all", namespace };
  await client.apply({ apiVersion: `${rbac}/v1`, kind: "Role", metadata: all, rules: everything });
  await client.apply({
    ...{ apiVersion: `${rbac}/v1`, kind: "RoleBinding", metadata: all },
    roleRef: { apiGroup: rbac, kind: "Role", name: "all" },
    subjects: [{ kind: "ServiceAccount", name, namespace }],
  });
  return await clientOfAccount(cluster, { namespace, name });
}
