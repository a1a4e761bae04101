import { expect, it } from "vitest";
import { defaultConfig, parseConfig } from "../../src/config.ts";

const garden = { PERENNIAL_GARDEN_KUBECONFIG: "garden.yaml", PERENNIAL_STATE_KEYS_FILE: "keys.json" };

it("a process that has only what it requires goes by the defaults", () => {
  const config = parseConfig(garden, "garden worker");
  expect(config).toMatchObject({ leaseSeconds: 60, dnsTtl: 120, snapshotMinutes: 10, syncPeriod: 3_600_000 });
  const files = { gardenKubeconfig: "garden.yaml", stateKeysFile: "keys.json" };
  expect(config).toEqual({ ...defaultConfig("garden worker"), ...files });
});

it("a process does not start without what it requires, and names all of it", () => {
  expect(() => parseConfig({}, "seed worker")).toThrow(
    "cannot read the configuration: PERENNIAL_GARDEN_KUBECONFIG: is not set; PERENNIAL_SEED_NAME: is not set; " +
      "PERENNIAL_SEED_KUBECONFIG: is not set; PERENNIAL_STATE_KEYS_FILE: is not set",
  );
});

it("a process neither has nor judges the variables of another one", () => {
  const config = parseConfig({ ...garden, PERENNIAL_LEASE_SECONDS: "-1" }, "manager");
  expect(config).not.toHaveProperty("leaseSeconds");
});

it.each(["1", "12", "30", "60"])("etcd may be saved every %s minutes where that divides an hour", (minutes) => {
  expect(parseConfig({ ...garden, PERENNIAL_SNAPSHOT_PERIOD_MINUTES: minutes }, "garden worker").snapshotMinutes).toBe(
    Number(minutes),
  );
});

it.each(["0", "7", "90", "2.5", "-10", "often"])("etcd may not be saved every %s minutes", (minutes) => {
  expect(() => parseConfig({ ...garden, PERENNIAL_SNAPSHOT_PERIOD_MINUTES: minutes }, "garden worker")).toThrow(
    "cannot read the configuration: PERENNIAL_SNAPSHOT_PERIOD_MINUTES",
  );
});

it("an error names everything that is wrong at once", () => {
  const wrong = { PERENNIAL_LEASE_SECONDS: "-1", PERENNIAL_SNAPSHOT_PERIOD_MINUTES: "7" };
  expect(() => parseConfig({ ...garden, ...wrong }, "garden worker")).toThrow(
    /PERENNIAL_LEASE_SECONDS: .*; PERENNIAL_SNAPSHOT_PERIOD_MINUTES: has to be a number of minutes that divides an hour/,
  );
});

it("a network agent does not start without a node and a range of pods' addresses, nor with one that is none", () => {
  expect(() => parseConfig({}, "network agent")).toThrow(
    "cannot read the configuration: PERENNIAL_NODE_NAME: is not set; PERENNIAL_POD_NETWORK: is not set",
  );
  const settings = { PERENNIAL_NODE_NAME: "a", PERENNIAL_POD_NETWORK: "10.184.0.0/16 -j ACCEPT" };
  expect(() => parseConfig(settings, "network agent")).toThrow("PERENNIAL_POD_NETWORK");
});
