import { expect, it } from "vitest";
import { parseConfig } from "../../src/config.ts";

it("the configuration has a default for everything that is not named", () => {
  expect(parseConfig({})).toMatchObject({ leaseSeconds: 60, dnsTtl: 120, snapshotMinutes: 10 });
});

it.each(["1", "12", "30", "60"])(
  "the configuration saves etcd every %s minutes where that divides an hour",
  (minutes) => {
    expect(parseConfig({ PERENNIAL_SNAPSHOT_PERIOD_MINUTES: minutes }).snapshotMinutes).toBe(Number(minutes));
  },
);

it.each(["0", "7", "90", "2.5", "-10", "often"])(
  "the configuration refuses to save etcd every %s minutes",
  (minutes) => {
    expect(() => parseConfig({ PERENNIAL_SNAPSHOT_PERIOD_MINUTES: minutes })).toThrow(
      "cannot read the configuration: PERENNIAL_SNAPSHOT_PERIOD_MINUTES",
    );
  },
);

it("the configuration says everything that is wrong at once", () => {
  expect(() => parseConfig({ PERENNIAL_LEASE_SECONDS: "-1", PERENNIAL_SNAPSHOT_PERIOD_MINUTES: "7" })).toThrow(
    /PERENNIAL_LEASE_SECONDS: .*; PERENNIAL_SNAPSHOT_PERIOD_MINUTES: has to be a number of minutes that divides an hour/,
  );
});
