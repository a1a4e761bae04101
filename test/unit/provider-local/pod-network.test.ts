import { expect, test } from "vitest";
import { planNetworks } from "../../../src/provider-local/network/plan.ts";

const node = (name: string, podCIDR?: string) => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name },
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
