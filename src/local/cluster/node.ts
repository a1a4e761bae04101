import { setTimeout as delay } from "node:timers/promises";
import { execa } from "execa";
import { MACHINE_SEED_LABEL } from "../../api/labels.ts";
import { Node, type KubeClient } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { issueKubeconfig, type RunningCluster } from "./clusters.ts";
import { hasMachinePods, type ClusterNetworks, type Environment } from "../environment/environment.ts";
import type { UserData } from "../machine/user-data.ts";
import { createMachines } from "../machine/machines.ts";
import { renderYaml } from "../../yaml.ts";

/** The name of the machine that a seed's pods run on, and of its Node. */
export function seedMachineName(seed: string): string {
  return seed;
}

/** Makes the seed's machine, lets it join the seed, connects its pods, and returns when its Node is ready. */
export async function ensureSeedNode(
  { environment, log, signal }: { environment: Environment; log: Logger; signal?: AbortSignal },
  cluster: RunningCluster,
  client: KubeClient,
): Promise<void> {
  const machines = createMachines(environment, log);
  const name = seedMachineName(cluster.name);
  const userData = renderUserData({
    networks: cluster.networks,
    ca: cluster.authority.certificate,
    kubelet: await issueKubeconfig(cluster, {
      ...{ name: `kubelet-${name}`, commonName: `system:node:${name}`, organization: "system:nodes" },
    }),
    kubeProxy: await issueKubeconfig(cluster, { name: "kube-proxy", commonName: "system:kube-proxy" }),
    machinePods: hasMachinePods(environment),
  });
  const { address } = await machines.ensure({ name, userData, labels: { [MACHINE_SEED_LABEL]: cluster.name } });
  const { podCIDR } = (await waitForNode(client, name, (node) => node.spec?.podCIDR !== undefined, signal)).spec ?? {};
  if (podCIDR === undefined) throw new Error(`cannot connect the pods of ${name}: its Node lost its podCIDR`);
  await machines.configureNetwork(name, { podCIDR, clusterPodCIDR: cluster.networks.pods, peers: [] });
  // The API server, a process of the host, calls webhooks in pods, and by Services.
  for (const network of [podCIDR, cluster.networks.services])
    await execa("ip", ["route", "replace", network, "via", address, "dev", environment.bridge]);
  await waitForNode(client, name, isReady, signal);
}

/** What the seed's machine boots with: a kubelet and a kube-proxy that know their cluster. */
export function renderUserData(parts: {
  readonly networks: ClusterNetworks;
  readonly ca: string;
  readonly kubelet: string;
  readonly kubeProxy: string;
  /** Machines are pods there, as upstream's provider makes them. */
  readonly machinePods?: boolean;
}): UserData {
  const { networks, ca, kubelet, kubeProxy, machinePods = false } = parts;
  const secret = 0o600;
  return {
    files: [
      { path: "/etc/kubernetes/pki/ca.crt", content: ca },
      { path: "/etc/kubernetes/kubelet.yaml", content: kubelet, permissions: secret },
      { path: "/etc/kubernetes/kube-proxy.yaml", content: kubeProxy, permissions: secret },
      { path: "/etc/kubernetes/kubelet-config.yaml", content: renderYaml(kubeletConfig(networks)) },
      { path: "/etc/kubernetes/kube-proxy-config.yaml", content: renderYaml(kubeProxyConfig(networks)) },
    ],
    units: [
      unit("kubelet", [
        "/opt/bin/kubelet --config=/etc/kubernetes/kubelet-config.yaml --kubeconfig=/etc/kubernetes/kubelet.yaml",
        "--node-ip=${MACHINE_ADDRESS} --hostname-override=${MACHINE_NAME}",
        "--node-labels=topology.kubernetes.io/region=local,topology.kubernetes.io/zone=local",
      ]),
      unit("kube-proxy", ["/opt/bin/kube-proxy --config=/etc/kubernetes/kube-proxy-config.yaml"]),
      // Upstream's machines mount Docker's socket, and do not start without one. This one gives no answer.
      ...(machinePods ? [unit("docker-socket", ["socat UNIX-LISTEN:/run/docker.sock,fork,mode=600 EXEC:false"])] : []),
    ],
  };
}

function unit(name: string, command: readonly string[]): UserData["units"][number] {
  const content = ["[Service]", `ExecStart=${command.join(" ")}`, "Restart=always", "RestartSec=2", ""].join("\n");
  return { name: `${name}.service`, content, command: "start", enable: true };
}

function kubeletConfig({ dns }: ClusterNetworks): Record<string, unknown> {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: "/etc/kubernetes/pki/ca.crt" },
    },
    authorization: { mode: "Webhook" },
    cgroupDriver: "cgroupfs",
    cgroupRoot: "${MACHINE_CGROUP}",
    cgroupsPerQOS: true,
    clusterDNS: [dns],
    clusterDomain: "cluster.local",
    containerRuntimeEndpoint: "unix:///run/containerd/containerd.sock",
    evictionHard: {
      "memory.available": "50Mi",
      "nodefs.available": "1%",
      "nodefs.inodesFree": "1%",
      "imagefs.available": "1%",
    },
    failCgroupV1: false,
    failSwapOn: false,
    imageGCHighThresholdPercent: 100,
    maxPods: 250,
    providerID: "${MACHINE_PROVIDER_ID}",
    resolvConf: "/etc/resolv.conf",
    staticPodPath: "/etc/kubernetes/manifests",
  };
}

function kubeProxyConfig({ pods }: ClusterNetworks): Record<string, unknown> {
  return {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    clientConnection: { kubeconfig: "/etc/kubernetes/kube-proxy.yaml" },
    clusterCIDR: pods,
    conntrack: { maxPerCore: 0, min: 0 },
    hostnameOverride: "${MACHINE_NAME}",
    mode: "iptables",
  };
}

function isReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

async function waitForNode(
  client: KubeClient,
  name: string,
  fits: (node: Node) => boolean,
  signal: AbortSignal | undefined,
): Promise<Node> {
  const deadline = Date.now() + 180_000;
  while (Date.now() < deadline) {
    const node = await client.read(Node, { name });
    if (node !== undefined && fits(node)) return node;
    await delay(250, undefined, signal === undefined ? {} : { signal });
  }
  throw new Error(`cannot bring up node ${name}: not ready after 3 min; see the kubelet's log of the machine`);
}
