import { expect, test } from "vitest";
import { initialCluster } from "../../../src/etcd/initial-cluster.ts";
import { member } from "./played-etcd.ts";

const self = { name: "b", peerURL: "https://10.0.0.2:2380" };
const a = member({ id: "a1", name: "a", peerURLs: ["https://10.0.0.1:2380", "https://[fd00::1]:2380"] });
const b = member({ id: "b1", name: "", peerURLs: [self.peerURL], isLearner: true, started: false });

test("a newcomer starts with all URLs of all members, and under the name that it brings", () => {
  expect(initialCluster([b, a], self)).toEqual({
    initialCluster: "a=https://10.0.0.1:2380,a=https://[fd00::1]:2380,b=https://10.0.0.2:2380",
    initialClusterState: "existing",
  });
});

test("another one that has not started stands for itself by its id", () => {
  const c = member({ id: "c1", name: "", peerURLs: ["https://10.0.0.3:2380"], started: false });
  expect(initialCluster([a, b, c], self).initialCluster).toContain("c1=https://10.0.0.3:2380");
});

test("who was not added, or has the name of another member, does not start", () => {
  expect(() => initialCluster([a], self)).toThrow("it is not among the members of the cluster; add it first");
  expect(() => initialCluster([a, b], { ...self, name: "a" })).toThrow("another member has its name");
});
