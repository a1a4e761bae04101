import { describe, expect, it } from "vitest";
import { clusterNetworks, deriveEnvironment, overlaps } from "../../../src/local/environment/environment.ts";

describe("an environment", () => {
  it("called local has the network, bridge and zone that the documentation names", () => {
    expect(deriveEnvironment("local", "/state")).toEqual({
      name: "local",
      stateDir: "/state",
      bridge: "pn-local",
      network: "172.30.0.0/16",
      gateway: "172.30.0.1",
      domain: "perennial.test",
    });
  });

  it("steps aside for networks that are taken", () => {
    expect(deriveEnvironment("local", "/state", ["172.30.5.0/24"]).network).toBe("172.31.0.0/16");
    expect(() => deriveEnvironment("local", "/state", ["172.16.0.0/12"])).toThrow(/all of 172.16.0.0\/12 is taken/);
  });

  it("is refused a name that is no DNS label", () => {
    expect(() => deriveEnvironment("Local", "/state")).toThrow(/cannot name an environment "Local"/);
    expect(() => deriveEnvironment("../x", "/state")).toThrow(/DNS label/);
  });
});

describe("the networks of clusters", () => {
  it("never overlap, whatever the environment and the cluster", () => {
    const all = Array.from({ length: 16 }, (_, i) => `172.${16 + i}.0.0/16`).flatMap((network) =>
      ["garden", "seed-1", "seed-2", "seed-7"].flatMap((cluster) => {
        const { pods, services } = clusterNetworks({ network }, cluster);
        return [pods, services];
      }),
    );
    expect(new Set(all).size).toBe(all.length);
  });

  it("put the cluster's DNS on the tenth address of the services", () => {
    const networks = clusterNetworks({ network: "172.30.0.0/16" }, "seed-1");
    expect(networks).toEqual({
      pods: "10.226.0.0/16",
      services: "10.227.0.0/16",
      dns: "10.227.0.10",
      apiServer: "10.227.0.1",
    });
  });
});

it("two networks overlap when one holds an address of the other", () => {
  expect(overlaps("10.0.0.0/8", "10.250.1.1/32")).toBe(true);
  expect(overlaps("192.168.1.0/24", "192.168.2.0/24")).toBe(false);
  expect(overlaps("0.0.0.0/0", "172.30.0.0/16")).toBe(true);
});
