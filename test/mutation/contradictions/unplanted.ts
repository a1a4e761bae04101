/** The rows that name a test and have no contradiction yet, by page and in its order. The list can only become shorter. */
export const unplanted = {
  "docs/gep-1.md": [],
  "docs/gep-28.md": [
    "What it is: beyond the document: day 2 without a garden",
    "init: 7: kube-proxy and CoreDNS",
    "init: etcd with backups, over the same data",
    "init: upstream: access for bootstrapping ends",
    "token and join: node-init takes the agent out of its image",
    "token and join: the kubelet registers its Node",
    "Disasters: a node reboots, or loses power",
    "Disasters: one of three is off: minor disruption",
    "Disasters: several nodes restart: quorum comes back",
    "What it leaves to the future: air-gapped landscapes",
  ],
} as const;
