/** The Debian packages that machines, networks and DNS need, each with a program or file that shows that it is there. */
export const packages = {
  containerd: ["containerd", "ctr"],
  runc: ["runc"],
  "containernetworking-plugins": ["/usr/lib/cni/bridge"],
  iptables: ["iptables"],
  iproute2: ["ip"],
  conntrack: ["conntrack"],
  bind9: ["named"],
  "bind9-dnsutils": ["nsupdate", "dig"],
  socat: ["socat"],
  ethtool: ["ethtool"],
  "util-linux": ["nsenter", "unshare", "flock"],
  curl: ["curl"],
  // Only for machines with a systemd of their own, and for bare ones without.
  mmdebstrap: ["mmdebstrap"],
  logrotate: ["/usr/sbin/logrotate"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** A Debian package of the local environment. */
export type PackageName = keyof typeof packages;
