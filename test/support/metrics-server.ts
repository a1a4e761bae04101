import { join } from "node:path";
import { findBinary } from "./binary.ts";
import { versions } from "../../src/local/binary/versions.ts";
import type { Image } from "../../src/local/image/build.ts";
import { baseFiles } from "../../src/local/image/images.ts";
import { writeImageTar } from "../../src/local/image/tar.ts";
import type { KubeObject } from "../../src/api/index.ts";

const name = `registry.k8s.io/metrics-server/metrics-server:v${versions.metricsServer}`;

/** Builds the image of metrics-server, an aggregated API that asks kubelets, into a folder. */
export async function buildMetricsServerImage(folder: string): Promise<Image> {
  const tar = join(folder, "metrics-server.tar");
  const source = await findBinary("metrics-server");
  const files = [...baseFiles, { path: "/metrics-server", source, mode: 0o755 }];
  await writeImageTar({ name, files, entrypoint: ["/metrics-server"] }, tar);
  return { name, tar };
}

const namespace = "metrics";
const labels = { "k8s-app": "metrics-server" };
const rbac = "rbac.authorization.k8s.io";

/** What its authors deploy, in a namespace of its own; `caBundle` is the PEM of those who sign the certificates of kubelets. */
export function metricsServerObjects(caBundle: string): readonly KubeObject[] {
  const meta = { name: "metrics-server", namespace };
  const subjects = [{ kind: "ServiceAccount", ...meta }];
  const bound = (of: string, role: string) => ({
    ...{ apiVersion: `${rbac}/v1`, kind: "ClusterRoleBinding", metadata: { name: of }, subjects },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: role },
  });
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: meta },
    { apiVersion: "v1", kind: "ConfigMap", metadata: { ...meta, name: "kubelet-ca" }, data: { "ca.crt": caBundle } },
    {
      ...{ apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name: "system:metrics-server" } },
      rules: [
        { apiGroups: [""], resources: ["nodes/metrics"], verbs: ["get"] },
        { apiGroups: [""], resources: ["pods", "nodes"], verbs: ["get", "list", "watch"] },
      ],
    },
    bound("system:metrics-server", "system:metrics-server"),
    bound("metrics-server:system:auth-delegator", "system:auth-delegator"),
    {
      ...{ apiVersion: `${rbac}/v1`, kind: "RoleBinding" },
      metadata: { name: "metrics-server-auth-reader", namespace: "kube-system" },
      roleRef: { apiGroup: rbac, kind: "Role", name: "extension-apiserver-authentication-reader" },
      subjects,
    },
    {
      ...{ apiVersion: "v1", kind: "Service", metadata: meta },
      spec: { selector: labels, ports: [{ port: 443, targetPort: 10250 }] },
    },
    {
      ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: meta },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } },
    },
    {
      ...{ apiVersion: "apiregistration.k8s.io/v1", kind: "APIService", metadata: { name: "v1beta1.metrics.k8s.io" } },
      spec: {
        ...{ group: "metrics.k8s.io", version: "v1beta1", groupPriorityMinimum: 100, versionPriority: 100 },
        ...{ insecureSkipTLSVerify: true, service: { ...meta } },
      },
    },
  ];
}

const podSpec = {
  serviceAccountName: "metrics-server",
  volumes: [
    { name: "tmp", emptyDir: {} },
    { name: "kubelet-ca", configMap: { name: "kubelet-ca" } },
  ],
  containers: [
    {
      ...{ name: "metrics-server", image: name, imagePullPolicy: "Never" },
      args: [
        "--cert-dir=/tmp",
        "--secure-port=10250",
        "--kubelet-preferred-address-types=InternalIP",
        "--kubelet-use-node-status-port",
        "--kubelet-certificate-authority=/srv/kubelet/ca.crt",
        "--metric-resolution=15s",
      ],
      readinessProbe: { httpGet: { path: "/readyz", port: 10250, scheme: "HTTPS" } },
      volumeMounts: [
        { name: "tmp", mountPath: "/tmp" },
        { name: "kubelet-ca", mountPath: "/srv/kubelet" },
      ],
      securityContext: { runAsNonRoot: true, runAsUser: 1000, allowPrivilegeEscalation: false },
    },
  ],
};
