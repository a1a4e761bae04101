import type { KubeObject } from "../../api/index.ts";
import type { ControlPlaneContext } from "../context.ts";
import { sha256 } from "../files.ts";
import { networksOf } from "../networks.ts";
import { toleratesControlPlane } from "../on-nodes/place.ts";
import { clusterRole, clusterRoleBinding } from "../rbac.ts";
import { restricted } from "../workload.ts";

const selector = { "k8s-app": "kube-dns" };
const metadata = { name: "coredns", namespace: "kube-system", labels: selector };

/** The Shoot's DNS server, at the tenth address of its Service network. */
export function coredns(context: ControlPlaneContext): KubeObject[] {
  const data = { Corefile: corefile };
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata, automountServiceAccountToken: true },
    clusterRole("perennial:coredns", [
      { apiGroups: [""], resources: ["services", "pods", "namespaces"], verbs: ["list", "watch"] },
      { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["list", "watch"] },
    ]),
    clusterRoleBinding("perennial:coredns", "perennial:coredns", [
      { kind: "ServiceAccount", name: "coredns", namespace: "kube-system" },
    ]),
    { apiVersion: "v1", kind: "ConfigMap", metadata, data },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { ...metadata, name: "kube-dns", labels: { ...selector, "kubernetes.io/name": "CoreDNS" } },
      spec: {
        clusterIP: networksOf(context).dns,
        selector,
        ports: [
          { name: "dns", protocol: "UDP", port: 53, targetPort: 8053 },
          { name: "dns-tcp", protocol: "TCP", port: 53, targetPort: 8053 },
          { name: "metrics", protocol: "TCP", port: 9153, targetPort: 9153 },
        ],
      },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: {
        replicas: 2,
        revisionHistoryLimit: 1,
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        selector: { matchLabels: selector },
        template: {
          metadata: { labels: selector, annotations: { "checksum/configmap-coredns": sha256(data) } },
          spec: pod(context),
        },
      },
    },
  ];
}

function pod({ images, nodes }: ControlPlaneContext) {
  const container = {
    name: "coredns",
    image: images.coredns,
    imagePullPolicy: "IfNotPresent",
    args: ["-conf", "/etc/coredns/Corefile"],
    ports: [
      { name: "dns-udp", containerPort: 8053, protocol: "UDP" },
      { name: "dns-tcp", containerPort: 8053, protocol: "TCP" },
      { name: "metrics", containerPort: 9153, protocol: "TCP" },
    ],
    livenessProbe: { httpGet: { path: "/health", port: 8080 }, initialDelaySeconds: 30, periodSeconds: 10 },
    // Pods wait for names, and a first look is often a moment too early: it looks again soon, and gives up as late as others.
    readinessProbe: { httpGet: { path: "/ready", port: 8181 }, periodSeconds: 1, failureThreshold: 15 },
    resources: { requests: { cpu: "20m", memory: "32Mi" }, limits: { memory: "256Mi" } },
    securityContext: { ...restricted(), readOnlyRootFilesystem: true },
    volumeMounts: [{ name: "config", mountPath: "/etc/coredns", readOnly: true }],
  };
  const otherNode = { labelSelector: { matchLabels: selector }, topologyKey: "kubernetes.io/hostname" };
  return {
    affinity: {
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: otherNode }],
      },
    },
    dnsPolicy: "Default",
    priorityClassName: "system-cluster-critical",
    securityContext: { runAsNonRoot: true, runAsUser: 65534, seccompProfile: { type: "RuntimeDefault" } },
    serviceAccountName: "coredns",
    tolerations: [
      { key: "CriticalAddonsOnly", operator: "Exists" },
      ...(nodes === undefined ? [] : [toleratesControlPlane]),
    ],
    containers: [container],
    volumes: [{ name: "config", configMap: { name: "coredns" } }],
  };
}

const corefile = `.:8053 {
    errors
    log . {
        class error
    }
    health :8080 {
        lameduck 5s
    }
    ready :8181
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        pods insecure
        fallthrough in-addr.arpa ip6.arpa
        ttl 30
    }
    prometheus :9153
    forward . /etc/resolv.conf
    cache 30
    loop
    reload
    loadbalance round_robin
}
`;
