import type { KubeObject } from "../../api/index.ts";
import type { ControlPlaneContext } from "../context.ts";
import { nameOnMachines } from "../networks.ts";
import { roleWithBinding } from "../rbac.ts";
import { renderYaml } from "../../yaml.ts";

/** Where those who have not joined yet see the authority of the cluster, and the name under which it is found: kubeadm's place. */
export const CLUSTER_INFO = { namespace: "kube-public", name: "cluster-info" } as const;

/** The path at which machines read it without credentials; bootstrap tokens prove it, by the signatures that the controller manager adds. */
export const CLUSTER_INFO_PATH = `/api/v1/namespaces/${CLUSTER_INFO.namespace}/configmaps/${CLUSTER_INFO.name}`;

/** Shows them; nothing while the cluster has no authority. */
export function clusterInfo(context: ControlPlaneContext): KubeObject[] {
  const { authority } = context;
  if (authority === undefined) return [];
  const cluster = {
    server: `https://${nameOnMachines(context)}`,
    "certificate-authority-data": Buffer.from(authority).toString("base64"),
  };
  const kubeconfig = renderYaml({ apiVersion: "v1", kind: "Config", clusters: [{ name: "", cluster }] });
  return [
    { apiVersion: "v1", kind: "ConfigMap", metadata: { ...CLUSTER_INFO }, data: { kubeconfig } },
    ...roleWithBinding(
      { ...CLUSTER_INFO, name: "perennial:cluster-info" },
      [{ apiGroups: [""], resources: ["configmaps"], resourceNames: [CLUSTER_INFO.name], verbs: ["get"] }],
      [
        { kind: "Group", name: "system:unauthenticated" },
        { kind: "Group", name: "system:bootstrappers" },
      ],
    ),
  ];
}
