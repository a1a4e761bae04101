import { LOCAL_PROVISIONER } from "../../api/names.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { ClusterNetworks, Environment } from "../environment/environment.ts";
import { versions } from "../binary/versions.ts";

/** Applies what a seed needs beside its control plane: DNS for its pods and a default storage class. */
export async function applyAddons(
  client: KubeClient,
  environment: Pick<Environment, "gateway">,
  networks: ClusterNetworks,
): Promise<void> {
  for (const object of renderAddons(environment, networks)) await client.apply(object);
}

/** CoreDNS on the tenth service address, which asks the environment's DNS server, and the storage class `default`. */
export function renderAddons({ gateway }: Pick<Environment, "gateway">, networks: ClusterNetworks): KubeObject[] {
  return [storageClass(), ...coreDnsAccess(), ...coreDns(gateway, networks.dns)];
}

const labels = { "k8s-app": "kube-dns" };
const identity = { name: "coredns", namespace: "kube-system" };

function storageClass(): KubeObject {
  return {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: "default", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    provisioner: LOCAL_PROVISIONER,
    // The scheduler waits for the volume instead of failing, and sometimes forgetting, a pod whose claim is not bound yet.
    volumeBindingMode: "WaitForFirstConsumer",
    allowVolumeExpansion: true,
  };
}

function coreDnsAccess(): KubeObject[] {
  const rule = (apiGroups: string[], resources: string[]) => ({ apiGroups, resources, verbs: ["list", "watch"] });
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: identity },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "perennial:coredns" },
      rules: [rule([""], ["services", "pods", "namespaces"]), rule(["discovery.k8s.io"], ["endpointslices"])],
    },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "perennial:coredns" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "perennial:coredns" },
      subjects: [{ kind: "ServiceAccount", ...identity }],
    },
  ] as KubeObject[];
}

function coreDns(gateway: string, address: string): KubeObject[] {
  return [
    { apiVersion: "v1", kind: "ConfigMap", metadata: identity, data: { Corefile: corefile(gateway) } },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { ...identity, labels },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: podSpec() },
      },
    },
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "kube-dns", namespace: "kube-system", labels },
      spec: {
        clusterIP: address,
        selector: labels,
        ports: [
          { name: "dns", port: 53, targetPort: 8053, protocol: "UDP" },
          { name: "dns-tcp", port: 53, targetPort: 8053, protocol: "TCP" },
        ],
      },
    },
  ] as KubeObject[];
}

function podSpec(): Record<string, unknown> {
  const probe = (path: string, port: number) => ({ httpGet: { path, port }, periodSeconds: 5 });
  return {
    serviceAccountName: "coredns",
    priorityClassName: "system-cluster-critical",
    dnsPolicy: "Default",
    securityContext: { runAsNonRoot: true, runAsUser: 65532 },
    containers: [
      {
        name: "coredns",
        image: `registry.k8s.io/coredns/coredns:v${versions.coredns}`,
        imagePullPolicy: "IfNotPresent",
        command: ["/usr/local/bin/coredns"],
        args: ["-conf", "/etc/coredns/Corefile"],
        resources: { requests: { cpu: "10m", memory: "30Mi" }, limits: { memory: "170Mi" } },
        livenessProbe: probe("/health", 8080),
        readinessProbe: probe("/ready", 8181),
        volumeMounts: [{ name: "config", mountPath: "/etc/coredns", readOnly: true }],
      },
    ],
    volumes: [{ name: "config", configMap: { name: "coredns" } }],
  };
}

function corefile(gateway: string): string {
  return [
    ".:8053 {",
    "  errors",
    "  health :8080",
    "  ready :8181",
    "  kubernetes cluster.local in-addr.arpa {",
    "    pods insecure",
    "    fallthrough in-addr.arpa",
    "  }",
    `  forward . ${gateway}`,
    "  cache 5",
    "  reload",
    "}",
    "",
  ].join("\n");
}
