import { expect, test } from "vitest";
import { seedChangeCauses } from "../../../src/admission/seed-change.ts";
import type { Seed } from "../../../src/api/index.ts";
import { movableShoot, readySeed } from "../../support/migration-objects.ts";

const seedWith = (...domains: readonly string[]): Seed => {
  const seed = readySeed("seed-1", new Date());
  const credentialsRef = { apiVersion: "v1", kind: "Secret", name: "dns", namespace: "garden" };
  const defaults = domains.map((domain) => ({ type: "local", domain, credentialsRef }));
  return { ...seed, spec: { ...seed.spec, dns: { ...seed.spec.dns, defaults } } };
};

test("a Seed keeps the default domains that its Shoots have names in, however they are spelled", () => {
  const shoot = movableShoot();
  const user = { ...shoot, spec: { ...shoot.spec, dns: { domain: "local.dev.example.test" } } };
  const causesOf = (domain: string) =>
    seedChangeCauses(seedWith("other.test"), seedWith("other.test", domain), [user]).map(({ message }) => message);
  for (const domain of ["example.test", "Example.Test."])
    expect(causesOf(domain)).toEqual([`${domain} cannot be removed: it is the domain of garden-dev/local`]);
  expect(causesOf("ample.test")).toEqual([]);
  expect(seedChangeCauses(seedWith("example.test"), seedWith("Example.Test."), [user])).toEqual([]);
});
