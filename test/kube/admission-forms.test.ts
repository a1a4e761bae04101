import { describe, expect } from "vitest";
import type { Shoot } from "../../src/api/index.ts";
import { admissionTest as test, refusalOf } from "../support/admission-lab.ts";
import { withChange, type ShootCase } from "../support/changed-shoots/case.ts";
import { componentCases } from "../support/changed-shoots/components.ts";
import { networkCases } from "../support/changed-shoots/networks.ts";
import { placementCases } from "../support/changed-shoots/placement.ts";
import { poolCases } from "../support/changed-shoots/pools.ts";
import { exampleObjects } from "../support/examples.ts";

let example: Shoot;

test.beforeAll(async ({ admissionLab }) => {
  const found = (await exampleObjects()).find(({ kind }) => kind === "Shoot") as Shoot;
  const metadata = { name: "changed", namespace: "garden-dev" };
  example = { ...found, metadata, spec: { ...found.spec, dns: { domain: "changed.example.com" } } };
  expect(await refusalOf(admissionLab.client.create(example, { dryRun: true }))).toBe(false);
});

const subjects: Readonly<Record<string, readonly ShootCase[]>> = {
  "worker pools": poolCases,
  networks: networkCases,
  "components of Kubernetes": componentCases,
  "names, references and times": placementCases,
};

describe.each(Object.entries(subjects))("of %s", (_, cases) => {
  test.for(cases.filter(({ refusal }) => refusal))(
    "$name is refused",
    async ({ change, refusal }, { admissionLab }) => {
      const answer = await refusalOf(admissionLab.client.create(withChange(example, change), { dryRun: true }));
      const [field, words = ""] = refusal ?? [""];
      expect(answer).toContain(`${field}: `);
      expect(answer).toContain(words);
      expect(answer).not.toMatch(/internal error/i);
    },
  );

  test.for(cases.filter(({ because }) => because))(
    "$name is admitted: $because",
    async ({ change }, { admissionLab }) => {
      expect(await refusalOf(admissionLab.client.create(withChange(example, change), { dryRun: true }))).toBe(false);
    },
  );
});
