import { describe, expect, test } from "vitest";
import { planNetworks, planNode } from "../../../src/provider-local/network/plan.ts";

const node = (name: string, podCIDR?: string) => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name, creationTimestamp: "2026-11-28T11:00:00Z" },
  spec: podCIDR === undefined ? {} : { podCIDR },
});

test("each machine is told its own pods and how to reach those of the others", () => {
  const addresses = new Map([
    ["a", "172.30.0.2"],
    ["b", "172.30.0.3"],
    ["c", "172.30.0.4"],
  ]);
  const nodes = [node("b", "10.0.1.0/24"), node("a", "10.0.0.0/24"), node("c"), node("stranger", "10.0.9.0/24")];
  expect(planNetworks(nodes, addresses, "10.0.0.0/16")).toEqual(
    new Map([
      [
        "a",
        {
          podCIDR: "10.0.0.0/24",
          clusterPodCIDR: "10.0.0.0/16",
          peers: [{ podCIDR: "10.0.1.0/24", address: "172.30.0.3" }],
        },
      ],
      [
        "b",
        {
          podCIDR: "10.0.1.0/24",
          clusterPodCIDR: "10.0.0.0/16",
          peers: [{ podCIDR: "10.0.0.0/24", address: "172.30.0.2" }],
        },
      ],
    ]),
  );
});

describe("a node by itself", () => {
  const at = (name: string, podCIDR: string | undefined, ...addresses: readonly string[]) => ({
    ...node(name, podCIDR),
    status: {
      addresses: [
        { type: "Hostname", address: name },
        ...addresses.map((address) => ({ type: "InternalIP", address })),
      ],
    },
  });
  const young = <T extends ReturnType<typeof node>>(made: T): T => ({
    ...made,
    metadata: { ...made.metadata, creationTimestamp: "2026-11-28T12:00:00Z" },
  });
  const plan = (...nodes: readonly ReturnType<typeof at>[]) => planNode(nodes, "a", "10.0.0.0/16");

  test("reaches the pods of all others by what their Nodes say", () => {
    const nodes = [
      at("a", "10.0.0.0/24", "fd00::2", "172.30.0.2"),
      at("b", "10.0.1.0/24", "172.30.0.3"),
      at("c", undefined),
    ];
    expect(plan(...nodes)).toEqual({
      address: "172.30.0.2",
      network: {
        podCIDR: "10.0.0.0/24",
        clusterPodCIDR: "10.0.0.0/16",
        peers: [{ podCIDR: "10.0.1.0/24", address: "172.30.0.3" }],
      },
    });
  });

  test("waits for its range of addresses, and for its address", () => {
    expect(plan(at("b", "10.0.1.0/24", "172.30.0.3"))).toBeUndefined();
    expect(plan(at("a", undefined, "172.30.0.2"))).toBeUndefined();
    expect(plan(at("a", "10.0.0.0/24"))).toBeUndefined();
  });

  test("makes no route of what a kubelet says and is no address", () => {
    const hostile = at("b", "10.0.1.0/24", "172.30.0.3\nroute del default");
    expect(plan(at("a", "10.0.0.0/24", "172.30.0.2"), hostile)?.network.peers).toEqual([]);
  });

  test.for([
    ["the way out of the cluster", "0.0.0.0/0"],
    ["half of it", "128.0.0.0/1"],
    ["the Services' range", "10.1.0.0/24"],
    ["the nodes' own network", "172.30.0.0/16"],
    ["more than the pods' range", "10.0.0.0/8"],
    ["addresses of IPv6", "fd00::/64"],
    ["all pods", "10.0.0.0/16"],
    ["a part of another's pods", "10.0.1.128/25"],
    ["a part of this node's pods", "10.0.0.0/25"],
  ])("gives no packets to a kubelet that claims %s", ([, podCIDR]) => {
    const hostile = young(at("0", podCIDR, "172.30.0.9"));
    const nodes = [hostile, at("a", "10.0.0.0/24", "172.30.0.2"), at("b", "10.0.1.0/24", "172.30.0.3")];
    expect(plan(...nodes)?.network).toEqual({
      podCIDR: "10.0.0.0/24",
      clusterPodCIDR: "10.0.0.0/16",
      peers: [{ podCIDR: "10.0.1.0/24", address: "172.30.0.3" }],
    });
  });

  test.for(["0.0.0.0/0", "10.0.0.0/8", "10.0.0.0/15"])(
    "gives no packets to a kubelet whose Node is the oldest and claims more than the pods' range: %s",
    (podCIDR) => {
      const nodes = [young(at("a", "10.0.0.0/24", "172.30.0.2")), at("0", podCIDR, "172.30.0.9")];
      expect(plan(...nodes)?.network.peers).toEqual([]);
    },
  );

  test("keeps a range for its Node before that has an address", () => {
    const nodes = [
      young(at("0", "10.0.1.0/25", "172.30.0.9")),
      at("a", "10.0.0.0/24", "172.30.0.2"),
      at("b", "10.0.1.0/24"),
    ];
    expect(plan(...nodes)?.network.peers).toEqual([]);
  });
});
