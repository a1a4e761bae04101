import { KUBE_PROXY_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/index.ts";
import { commandLine } from "../command-line.ts";
import type { ControlPlaneContext } from "../context.ts";
import { sha256 } from "../files.ts";
import { internalApiServerName, nameOnMachines, networksOf } from "../networks.ts";
import { clusterRoleBinding } from "../rbac.ts";
import { renderYaml } from "../../yaml.ts";

const labels = { app: "kubernetes", role: "proxy", "k8s-app": "kube-proxy" };
const metadata = { name: "kube-proxy", namespace: "kube-system", labels };
const mountPath = "/var/lib/kube-proxy-config";

/** What makes Services work on the Shoot's nodes; on none of them if the network plugin does that itself. */
export function kubeProxy(context: ControlPlaneContext): KubeObject[] {
  const enabled = context.shoot.spec.kubernetes.kubeProxy?.enabled !== false;
  const data = { "config.yaml": configuration(context), "kubeconfig.yaml": kubeconfig(context) };
  const container = {
    name: "kube-proxy",
    image: context.images.kubeProxy,
    imagePullPolicy: "IfNotPresent",
    command: commandLine("kube-proxy", { config: `${mountPath}/config.yaml`, "hostname-override": "$(NODE_NAME)" }),
    env: [{ name: "NODE_NAME", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
    livenessProbe: { httpGet: { path: "/healthz", port: 10256 }, initialDelaySeconds: 15, periodSeconds: 10 },
    resources: { requests: { cpu: "20m", memory: "64Mi" } },
    securityContext: { privileged: true },
    volumeMounts: [
      { name: "config", mountPath },
      { name: "modules", mountPath: "/lib/modules", readOnly: true },
      { name: "xtables-lock", mountPath: "/run/xtables.lock" },
    ],
  };
  const spec = {
    hostNetwork: true,
    ...(enabled ? {} : { nodeSelector: { [KUBE_PROXY_LABEL]: "disabled" } }),
    priorityClassName: "system-node-critical",
    serviceAccountName: "kube-proxy",
    tolerations: [{ operator: "Exists" }],
    containers: [container],
    volumes: [
      { name: "config", configMap: { name: "kube-proxy-config" } },
      { name: "modules", hostPath: { path: "/lib/modules" } },
      { name: "xtables-lock", hostPath: { path: "/run/xtables.lock", type: "FileOrCreate" } },
    ],
  };
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata, automountServiceAccountToken: true },
    clusterRoleBinding("perennial:kube-proxy", "system:node-proxier", [
      { kind: "ServiceAccount", name: "kube-proxy", namespace: "kube-system" },
    ]),
    { apiVersion: "v1", kind: "ConfigMap", metadata: { ...metadata, name: "kube-proxy-config" }, data },
    {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata,
      spec: {
        selector: { matchLabels: { "k8s-app": "kube-proxy" } },
        updateStrategy: { type: "RollingUpdate" },
        template: { metadata: { labels, annotations: annotationsOf(context, data) }, spec },
      },
    },
  ];
}

/** A pod on the host's network has the names of the host as they were when it began. */
function annotationsOf({ nodes }: ControlPlaneContext, data: Readonly<Record<string, string>>) {
  const addresses = nodes?.map((node) => node.addresses[0]).toSorted();
  return {
    "checksum/configmap-kube-proxy-config": sha256(data),
    ...(addresses && { "checksum/api-servers": sha256({ addresses: addresses.join(" ") }) }),
  };
}

/** Limits of connection tracking stay as the machine's image sets them. */
function configuration(context: ControlPlaneContext): string {
  const { kubeProxy } = context.shoot.spec.kubernetes;
  return renderYaml({
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    clientConnection: { kubeconfig: `${mountPath}/kubeconfig.yaml` },
    clusterCIDR: networksOf(context).pods,
    conntrack: { maxPerCore: 0, min: 0 },
    ...(kubeProxy?.featureGates === undefined ? {} : { featureGates: kubeProxy.featureGates }),
    mode: (kubeProxy?.mode ?? "IPTables").toLowerCase(),
  });
}

/** The API server under its public name: through Service `kubernetes` it is reachable only once kube-proxy runs. */
function kubeconfig(context: ControlPlaneContext): string {
  const account = "/var/run/secrets/kubernetes.io/serviceaccount";
  const name = context.nodes === undefined ? internalApiServerName(context) : nameOnMachines(context);
  const server = `https://${name ?? "kubernetes.default.svc"}`;
  return renderYaml({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "default", cluster: { server, "certificate-authority": `${account}/ca.crt` } }],
    users: [{ name: "default", user: { tokenFile: `${account}/token` } }],
    contexts: [{ name: "default", context: { cluster: "default", user: "default" } }],
    "current-context": "default",
  });
}
