import { expect, test } from "vitest";
import { paths } from "../../src/admission/paths.ts";
import { askedAbout } from "../support/garden-examples.ts";
import { fuzzAdmission } from "../fuzz/admission.ts";
import { fuzzConfigurations } from "../fuzz/configuration.ts";
import { fuzzKubeconfigs } from "../fuzz/kubeconfig.ts";
import { fuzzUserData } from "../fuzz/user-data.ts";
import type { Tally } from "../fuzz/report.ts";

// A sample; `npm run fuzz` does ten thousand of each. The seed of a failure makes it again there.
const seed = Math.floor(Math.random() * 2 ** 32);

const explained = (tallies: readonly Tally[]) =>
  tallies.flatMap(({ what, findings }) => findings.map((finding) => ({ seed, what, ...finding })));

test("admission admits or refuses whatever it is sent, in time", async () => {
  const tallies = await fuzzAdmission({ seed, count: 200 });
  expect(explained(tallies)).toEqual([]);
  expect(tallies.map(({ what }) => what)).toContain("Shoot");
  for (const { what, outcomes } of tallies) {
    // Of unknown fields there are warnings only, and what is refused for the sake of a Shoot takes one that lives.
    const judged = askedAbout[what]?.some((path) => path !== paths.fields && path !== paths.livedBy);
    if (judged) expect(outcomes["refused"], `seed ${seed}: ${what}`).toBeGreaterThan(0);
  }
});

test("a kubeconfig is read, or refused without its token", async () => {
  expect(explained(await fuzzKubeconfigs({ seed, count: 500 }))).toEqual([]);
});

test("what is written into a unit is what a machine reads", async () => {
  expect(explained(await fuzzUserData({ seed, count: 2000 }))).toEqual([]);
});

test("a folder of configuration is read, or refused in sentences without its secrets", async () => {
  const tallies = await fuzzConfigurations({ seed, count: 300 });
  expect(explained(tallies)).toEqual([]);
  for (const { outcomes } of tallies)
    expect(
      Object.values(outcomes).every((number) => number > 0),
      `seed ${seed}`,
    ).toBe(true);
});
