import { stringify } from "yaml";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import { helloImage } from "../../src/local/image/images.ts";
import type { UserData } from "../../src/local/machine/user-data.ts";
import { versions } from "../../src/local/binary/versions.ts";

/** A machine with a kubelet that is its cluster's administrator. */
export function nodeUserData(kubeconfig: string): UserData {
  const config = {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    authentication: { anonymous: { enabled: false }, webhook: { enabled: false } },
    authorization: { mode: "AlwaysAllow" },
    cgroupDriver: "cgroupfs",
    cgroupRoot: "${MACHINE_CGROUP}",
    clusterDNS: ["10.96.0.10"],
    containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
    evictionHard: { "memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%" },
    failCgroupV1: false,
    failSwapOn: false,
    imageGCHighThresholdPercent: 100,
    providerID: "${MACHINE_PROVIDER_ID}",
    volumePluginDir: "/var/lib/kubelet/volume-plugins",
  };
  const kubelet = [
    "[Service]",
    "ExecStart=/opt/bin/kubelet --config=/etc/kubernetes/kubelet-config.yaml \\",
    "  --kubeconfig=/etc/kubernetes/kubelet.yaml --node-ip=${MACHINE_ADDRESS}",
    "Restart=always",
    "RestartSec=1",
    "",
  ].join("\n");
  return {
    files: [
      { path: "/etc/kubernetes/kubelet.yaml", content: kubeconfig, permissions: 0o600 },
      { path: "/etc/kubernetes/kubelet-config.yaml", content: stringify(config) },
    ],
    units: [{ name: "kubelet.service", content: kubelet, command: "start" }],
  };
}

/** The demo's pod on a node, which is also its name. */
export function hello(node: string): KubeObject {
  return pod(node, node, {
    containers: [{ name: "hello", image: helloImage, resources: { limits: { memory: "64Mi", cpu: "100m" } } }],
  });
}

/** kube-proxy as a pod in the machine's own network namespace. */
export function kubeProxy(node: string, kubeconfig: string): KubeObject {
  const config = {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    clientConnection: { kubeconfig: "/tmp/kubeconfig" },
    clusterCIDR: "10.97.0.0/16",
    conntrack: { maxPerCore: 0, min: 0 },
    mode: "iptables",
  };
  const script =
    'printf %s "$CONFIG" > /tmp/config; printf %s "$KUBECONFIG_TEXT" > /tmp/kubeconfig; exec kube-proxy --config=/tmp/config';
  return pod(`kube-proxy-${node}`, node, {
    hostNetwork: true,
    containers: [
      {
        name: "kube-proxy",
        image: `registry.k8s.io/kube-proxy:v${versions.kubernetes}`,
        command: ["/bin/sh", "-c", script],
        env: [
          { name: "CONFIG", value: stringify(config) },
          { name: "KUBECONFIG_TEXT", value: kubeconfig },
        ],
        securityContext: { privileged: true },
      },
    ],
  });
}

/** A Service on port 80 and, as no controller makes them here, its endpoints on port 8080. */
export function service(addresses: readonly string[], clusterIP: string): KubeObject[] {
  const metadata = { name: "hello", namespace: "default" };
  const labels = { "kubernetes.io/service-name": "hello" };
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { type: "LoadBalancer", clusterIP, ports: [{ name: "http", port: 80 }] },
    },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { ...metadata, labels },
      addressType: "IPv4",
      ports: [{ name: "http", port: 8080, protocol: "TCP" }],
      endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    },
  ] as KubeObject[];
}

function pod(name: string, nodeName: string, spec: Record<string, unknown>): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default" },
    spec: { nodeName, automountServiceAccountToken: false, enableServiceLinks: false, ...spec },
  };
}
