/** The network agent's DaemonSet and account, and the name under which it writes. */
export const NETWORK_AGENT = "network-agent";

/** Where its pod finds what it needs of its node: each mounted from the path of the same meaning there. */
export const agentPlaces = {
  cni: { host: "/etc/cni/net.d", pod: "/etc/cni/net.d" },
  /** No pod may write its own /proc/sys. What is below `net` is that of the network that the writer is in. */
  settings: { host: "/proc/sys/net/ipv4", pod: "/run/node/ipv4" },
  kubeconfig: { host: "/var/lib/kubelet/kubeconfig-real", pod: "/run/node/kubeconfig" },
  /** What keeps programs that change iptables apart, in its older form. */
  lock: { host: "/run/xtables.lock", pod: "/run/xtables.lock" },
} as const;

/** Of the node, as its network is: that of no component of Kubernetes', and not among those that extensions are given. */
export const AGENT_HEALTH_PORT = 10_268;

/** What says of a Node that its pods have a network. */
export const NETWORK_CONDITION = "NetworkUnavailable";
