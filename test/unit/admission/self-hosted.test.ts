import { expect, test } from "vitest";
import type { Shoot } from "../../../src/api/index.ts";
import { markCauses, selfHostedCauses, selfHostedChangeCauses } from "../../../src/admission/shoot/self-hosted.ts";
import { withChange } from "../../support/changed-shoots/case.ts";
import { exampleShoot } from "../../support/control-plane-context.ts";

const worker = { name: "worker", minimum: 1, maximum: 3, machine: { type: "local" } };
const controlPlane = { name: "control-plane", controlPlane: {}, minimum: 3, maximum: 3, machine: { type: "local" } };

/** A self-hosted Shoot with other values at these paths. */
function selfHosted(change: Readonly<Record<string, unknown>> = {}): Shoot {
  return withChange(exampleShoot(), {
    "metadata.namespace": "garden",
    "spec.seedName": undefined,
    "spec.provider.workers": [controlPlane, worker].map((pool) => structuredClone(pool)),
    ...change,
  });
}

const inSeed = exampleShoot();
const first = "spec.provider.workers[0]";

test("a Shoot with three nodes for its control plane is admitted, and one in a Seed is not spoken of", () => {
  expect(selfHostedCauses(selfHosted())).toEqual([]);
  expect(selfHostedCauses(inSeed)).toEqual([]);
  for (const size of [1, 5, 7])
    expect(selfHostedCauses(selfHosted({ [`${first}.minimum`]: size, [`${first}.maximum`]: size }))).toEqual([]);
});

test.each([
  [
    "two nodes",
    { [`${first}.minimum`]: 2, [`${first}.maximum`]: 2 },
    `${first}.minimum`,
    "must be 1, 3, 5 or 7, not 2",
  ],
  ["nine nodes", { [`${first}.minimum`]: 9, [`${first}.maximum`]: 9 }, `${first}.minimum`, "not 9"],
  ["room to grow", { [`${first}.maximum`]: 5 }, `${first}.maximum`, "must be 3, the minimum"],
  [
    "two pools",
    { "spec.provider.workers[1].controlPlane": {} },
    "spec.provider.workers[1].controlPlane",
    "pool control-plane carries",
  ],
  ["another namespace", { "metadata.namespace": "garden-dev" }, "metadata.namespace", "must be garden"],
  ["a Seed", { "spec.seedName": "seed-1" }, "spec.seedName", "carries its own control plane"],
  ["sleep", { "spec.hibernation": { enabled: true } }, "spec.hibernation.enabled", "cannot wake itself"],
])("a control plane with %s is refused by its field", (_, change, field, words) => {
  const causes = selfHostedCauses(selfHosted(change));
  expect(causes.find((cause) => cause.field === field)?.message).toContain(words);
});

const manager = { domain: "root.example.com", providers: [{ type: "rfc2136", secretName: "dns" }] };

test.each([
  ["an extension", { extension: {} }, undefined, []],
  ["an extension without a type of its own, in the DNS", { extension: {} }, manager, []],
  ["the DNS", { dns: {} }, manager, []],
  ["both", { dns: {}, extension: {} }, manager, ["must say either extension or dns"]],
  ["nothing", {}, manager, ["must say either extension or dns"]],
  [
    "the DNS without a domain",
    { dns: {} },
    { ...manager, domain: undefined },
    ["needs a name that is managed: write spec.dns.domain"],
  ],
  [
    "the DNS, which is not managed",
    { dns: {} },
    { domain: "root.example.com", providers: [{ type: "rfc2136" }] },
    ["needs a name that is managed: write a provider with its Secret in spec.dns.providers"],
  ],
])("a control plane that is exposed by %s", (_, exposure, dns, messages) => {
  const causes = selfHostedCauses(selfHosted({ [`${first}.controlPlane.exposure`]: exposure, "spec.dns": dns }));
  expect(causes.map(({ message }) => message)).toEqual(messages);
});

test("a Shoot does not switch between a Seed and nodes of its own, nor its control plane to another pool", () => {
  const renamed = selfHosted({ [`${first}.name`]: "other" });
  const causes = [
    selfHostedChangeCauses({ shoot: selfHosted(), old: inSeed }),
    selfHostedChangeCauses({ shoot: inSeed, old: selfHosted() }),
    selfHostedChangeCauses({ shoot: renamed, old: selfHosted() }),
  ];
  expect(causes.map(([cause]) => cause?.message)).toEqual([
    "cannot be changed: a Shoot does not switch between a Seed and nodes of its own",
    "cannot be changed: a Shoot does not switch between a Seed and nodes of its own",
    "cannot be changed: pool control-plane carries the control plane",
  ]);
  expect(causes.flat().every(({ forbidden }) => forbidden)).toBe(true);
  expect(selfHostedChangeCauses({ shoot: selfHosted(), old: selfHosted() })).toEqual([]);
  expect(selfHostedChangeCauses({ shoot: selfHosted(), old: undefined })).toEqual([]);
});

test("a user who sets or changes the control plane's pool needs verb mark-self-hosted, and no other user does", async () => {
  const asked: object[] = [];
  const deny = async (_: unknown, access: object) => {
    asked.push(access);
    return false;
  };
  const user = { username: "dev" };
  const grown = selfHosted({ [`${first}.minimum`]: 5, [`${first}.maximum`]: 5 });
  expect(await markCauses(deny, user, { shoot: inSeed, old: undefined })).toEqual([]);
  expect(await markCauses(deny, user, { shoot: selfHosted(), old: selfHosted() })).toEqual([]);
  expect(asked).toEqual([]);
  for (const change of [
    { shoot: selfHosted(), old: undefined },
    { shoot: grown, old: selfHosted() },
  ])
    expect(await markCauses(deny, user, change)).toMatchObject([{ forbidden: true, field: "spec.provider.workers" }]);
  expect(asked[0]).toEqual({
    ...{ group: "core.gardener.cloud", resource: "shoots", verb: "mark-self-hosted" },
    ...{ namespace: "garden", name: "example" },
  });
  expect(await markCauses(async () => true, user, { shoot: grown, old: selfHosted() })).toEqual([]);
});
