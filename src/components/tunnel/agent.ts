import { FROM_SEED_LABEL } from "../../api/labels.ts";
import type { KubeObject } from "../../api/index.ts";
import { commandLine } from "../command-line.ts";
import type { ControlPlaneContext } from "../context.ts";
import { internalApiServerName } from "../networks.ts";
import { clusterRole, clusterRoleBinding } from "../rbac.ts";
import { restricted } from "../workload.ts";
import { HEALTH_PORT, TUNNEL_AGENT, TUNNEL_AUDIENCE, TUNNEL_PORT, TUNNEL_SERVER_USER } from "./names.ts";

const namespace = "kube-system";
const selector = { "k8s-app": TUNNEL_AGENT };
/** Upstream finds the pods of its tunnel, and lets them through its policies, by `type: tunnel`. */
const labels = { ...selector, type: "tunnel" };
const metadata = { name: TUNNEL_AGENT, namespace, labels: selector };

/**
 * The tunnel's agents, which open connections to the API server's address from inside, and make those that it asks for to
 * nodes, pods and Services; and the right of the server to have their tokens judged.
 */
export function tunnelAgent(context: ControlPlaneContext): KubeObject[] {
  return [
    clusterRole("perennial:tunnel-server", [
      { apiGroups: ["authentication.k8s.io"], resources: ["tokenreviews"], verbs: ["create"] },
    ]),
    clusterRoleBinding("perennial:tunnel-server", "perennial:tunnel-server", [
      { kind: "User", name: TUNNEL_SERVER_USER },
    ]),
    { apiVersion: "v1", kind: "ServiceAccount", metadata, automountServiceAccountToken: false },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { selector, ports: [{ name: "health", port: HEALTH_PORT, targetPort: HEALTH_PORT, protocol: "TCP" }] },
    },
    fromSeed,
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: {
        replicas: 2,
        revisionHistoryLimit: 1,
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        selector: { matchLabels: selector },
        template: { metadata: { labels }, spec: pod(context) },
      },
    },
  ];
}

/** Under upstream's name: extensions label pods that the control plane is to reach. */
const fromSeed: KubeObject = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: "gardener.cloud--allow-from-seed", namespace },
  spec: {
    podSelector: { matchLabels: { [FROM_SEED_LABEL]: "allowed" } },
    policyTypes: ["Ingress"],
    ingress: [{ from: [{ podSelector: { matchLabels: labels } }] }],
  },
};

/** DNS is the node's: pods find the API server's name before there is a DNS server of their own. */
function pod(context: ControlPlaneContext) {
  const account = "/var/run/secrets/konnectivity";
  const container = {
    name: TUNNEL_AGENT,
    image: context.images.tunnelAgent,
    imagePullPolicy: "IfNotPresent",
    command: commandLine("proxy-agent", {
      "proxy-server-host": internalApiServerName(context),
      "proxy-server-port": TUNNEL_PORT,
      "ca-cert": `${account}/ca.crt`,
      "service-account-token-path": `${account}/token`,
      // Replicas of the API server come and go: an agent looks for more servers as long as it runs.
      "sync-forever": true,
      "keepalive-time": "40s",
      "health-server-port": HEALTH_PORT,
      "admin-server-port": 8133,
      v: 1,
    }),
    ports: [{ name: "health", containerPort: HEALTH_PORT, protocol: "TCP" }],
    livenessProbe: { httpGet: { path: "/healthz", port: HEALTH_PORT }, periodSeconds: 10, failureThreshold: 3 },
    readinessProbe: { httpGet: { path: "/readyz", port: HEALTH_PORT }, periodSeconds: 5 },
    resources: { requests: { cpu: "10m", memory: "32Mi" }, limits: { memory: "256Mi" } },
    securityContext: { ...restricted(), readOnlyRootFilesystem: true },
    volumeMounts: [{ name: "account", mountPath: account, readOnly: true }],
  };
  const token = { serviceAccountToken: { path: "token", audience: TUNNEL_AUDIENCE, expirationSeconds: 3600 } };
  const authority = { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } };
  const otherNode = { labelSelector: { matchLabels: selector }, topologyKey: "kubernetes.io/hostname" };
  return {
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: otherNode }],
      },
    },
    automountServiceAccountToken: false,
    dnsPolicy: "Default",
    priorityClassName: "system-cluster-critical",
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      fsGroup: 65532,
      seccompProfile: { type: "RuntimeDefault" },
    },
    serviceAccountName: TUNNEL_AGENT,
    tolerations: [{ key: "CriticalAddonsOnly", operator: "Exists" }],
    containers: [container],
    volumes: [{ name: "account", projected: { defaultMode: 0o440, sources: [token, authority] } }],
  };
}
