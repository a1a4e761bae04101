import { renderYaml } from "../../yaml.ts";

/** Where the API server has its audit policy, and where its audit log: the log goes with the pod. */
export const AUDIT = {
  policy: {
    name: "audit-policy-config",
    data: {
      "audit-policy.yaml": renderYaml({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "None" }] }),
    },
    mountPath: "/etc/kubernetes/audit",
  },
  log: { name: "audit-log", mountPath: "/var/log/kube-apiserver" },
} as const;

/** The volume of the log; the API server ends its files at 100 MB and keeps five. */
export const auditLogVolume = { name: AUDIT.log.name, emptyDir: { sizeLimit: "1Gi" } };
