import { expect, test } from "vitest";
import type { ControllerRegistration, Seed, Shoot } from "../../../../src/api/index.ts";
import {
  needed,
  pairsOfSeed,
  wordsOfBastion,
  wordsOfBucket,
  wordsOfEntry,
  wordsOfShoot,
} from "../../../../src/api/registration/demand.ts";
import { primaryConflicts } from "../../../../src/api/registration/primaries.ts";
import { hashOf, registeredOf } from "../../../../src/api/registration/registered.ts";
import { reasonsToInstall, type WantingSeed } from "../../../../src/api/registration/wanted.ts";

type Resource = NonNullable<ControllerRegistration["spec"]["resources"]>[number];
type Deployment = NonNullable<ControllerRegistration["spec"]["deployment"]>;

const registration = (
  resources: Resource[],
  deployment?: Deployment,
  metadata: object = {},
): ControllerRegistration => ({
  apiVersion: "core.gardener.cloud/v1beta1",
  kind: "ControllerRegistration",
  metadata: { name: "one", uid: "u", creationTimestamp: "2026-01-01T00:00:00Z", ...metadata },
  spec: { resources, ...(deployment === undefined ? {} : { deployment }) },
});

const shoot = (spec: object = {}) =>
  ({
    spec: {
      provider: { type: "local", workers: [{ name: "w", machine: { type: "m", image: { name: "debian" } } }] },
      networking: { type: "flannel" },
      ...spec,
    },
  }) as unknown as Shoot;

const workerless = (spec: object = {}) => shoot({ provider: { type: "local" }, networking: undefined, ...spec });

interface Place {
  readonly shoots?: readonly Shoot[];
  readonly words?: readonly string[];
  readonly seed?: object;
  readonly labels?: Record<string, string>;
  readonly deleting?: boolean;
  readonly extensions?: readonly (readonly [string, "enabled" | "disabled"])[];
}

function seedWith({
  shoots = [],
  words = [],
  seed = {},
  labels = {},
  deleting = false,
  extensions = [],
}: Place): WantingSeed {
  const said = [...shoots.flatMap((one) => [...wordsOfShoot(one)]), ...words];
  const spec = { provider: { type: "metal", region: "r" }, dns: {}, ...seed } as Seed["spec"];
  return {
    name: "seed-1",
    deleting,
    metadata: { labels },
    spec,
    count: (word) => said.filter((one) => one === word).length,
    own: new Set(pairsOfSeed({ spec }).map(needed)),
    extensions: new Map(extensions),
  };
}

const isWanted = (resource: Resource, place: Place, deployment?: Deployment) =>
  reasonsToInstall(registeredOf(registration([resource], deployment)), seedWith(place)).length > 0;

const extension = (more: object = {}): Resource => ({ kind: "Extension", type: "audit", ...more });

test.each<[string, Resource, Place, boolean]>([
  ["the Shoot's infrastructure", { kind: "Infrastructure", type: "local" }, { shoots: [shoot()] }, true],
  ["the Shoot's machines", { kind: "Worker", type: "local" }, { shoots: [shoot()] }, true],
  ["machines of a workerless Shoot", { kind: "Worker", type: "local" }, { shoots: [workerless()] }, false],
  ["the image of a pool", { kind: "OperatingSystemConfig", type: "debian" }, { shoots: [shoot()] }, true],
  ["an image of no pool", { kind: "OperatingSystemConfig", type: "suse" }, { shoots: [shoot()] }, false],
  ["the network", { kind: "Network", type: "flannel" }, { shoots: [shoot()] }, true],
  [
    "the DNS provider of the Shoot's domain",
    { kind: "DNSRecord", type: "route53" },
    { shoots: [shoot({ dns: { domain: "a.b", providers: [{ type: "route53", primary: true }] } })] },
    true,
  ],
  [
    "a runtime of a pool",
    { kind: "ContainerRuntime", type: "gvisor" },
    {
      shoots: [
        shoot({
          provider: {
            type: "local",
            workers: [{ machine: { image: {} }, cri: { name: "containerd", containerRuntimes: [{ type: "gvisor" }] } }],
          },
        }),
      ],
    },
    true,
  ],
  ["nothing, of a secondary", { kind: "Infrastructure", type: "aws", primary: false }, { shoots: [shoot()] }, false],
  [
    "what a primary handles, too",
    { kind: "Infrastructure", type: "local", primary: false },
    { shoots: [shoot()] },
    true,
  ],
  ["the Seed's provider", { kind: "Worker", type: "metal" }, {}, true],
  ["the provider of a Seed that goes", { kind: "Worker", type: "metal" }, { deleting: true }, false],
  [
    "that of one that still has Shoots",
    { kind: "Worker", type: "metal" },
    { deleting: true, shoots: [workerless()] },
    true,
  ],
  [
    "the Seed's internal domain",
    { kind: "DNSRecord", type: "rfc2136" },
    { seed: { dns: { internal: { type: "rfc2136" } } } },
    true,
  ],
  ["the Seed's backups", { kind: "BackupEntry", type: "s3" }, { seed: { backup: { provider: "s3" } } }, true],
  [
    "a bucket that outlives the Seed's wish for it",
    { kind: "BackupBucket", type: "swift" },
    { words: wordsOfBucket({ spec: { provider: { type: "swift", region: "r" } } }) },
    true,
  ],
  [
    "a Bastion",
    { kind: "Bastion", type: "jump" },
    {
      words: wordsOfBastion({ spec: { shootRef: { name: "s" }, providerType: "jump", sshPublicKey: "", ingress: [] } }),
    },
    true,
  ],
  [
    "an entry in a bucket of another provider",
    { kind: "BackupEntry", type: "swift" },
    { words: wordsOfEntry({ spec: { provider: { type: "swift", region: "r" } } }) },
    true,
  ],
])("%s decides whether a controller is wanted", (_, resource, place, wanted) => {
  expect(isWanted(resource, place)).toBe(wanted);
});

test.each<[string, object, Place, boolean]>([
  ["a Shoot that enables it", {}, { shoots: [shoot({ extensions: [{ type: "audit" }] })] }, true],
  [
    "a Shoot that disables it",
    { autoEnable: ["shoot"] },
    { shoots: [shoot({ extensions: [{ type: "audit", disabled: true }] })] },
    false,
  ],
  [
    "one more that does not",
    { autoEnable: ["shoot"] },
    { shoots: [shoot({ extensions: [{ type: "audit", disabled: true }] }), shoot()] },
    true,
  ],
  ["any Shoot, where it is automatic", { autoEnable: ["shoot"] }, { shoots: [shoot()] }, true],
  ["any Shoot, in seed 001's words", { globallyEnabled: true }, { shoots: [shoot()] }, true],
  ["any Shoot, where it is not automatic", {}, { shoots: [shoot()] }, false],
  ["no Shoot, where it is automatic", { autoEnable: ["shoot"] }, {}, false],
  ["a workerless Shoot that enables it", {}, { shoots: [workerless({ extensions: [{ type: "audit" }] })] }, false],
  [
    "such a one, where that is supported",
    { workerlessSupported: true },
    { shoots: [workerless({ extensions: [{ type: "audit" }] })] },
    true,
  ],
  ["a workerless Shoot, where it is automatic", { autoEnable: ["shoot"] }, { shoots: [workerless()] }, false],
  ["such a one, supported", { autoEnable: ["shoot"], workerlessSupported: true }, { shoots: [workerless()] }, true],
  [
    "a Shoot, where it is for Seeds only",
    { clusterCompatibility: ["seed"] },
    { shoots: [shoot({ extensions: [{ type: "audit" }] })] },
    false,
  ],
  ["a Seed that enables it", { clusterCompatibility: ["seed"] }, { extensions: [["audit", "enabled"]] }, true],
  ["a Seed that enables what is for Shoots", {}, { extensions: [["audit", "enabled"]] }, false],
  ["any Seed, where it is automatic", { clusterCompatibility: ["seed"], autoEnable: ["seed"] }, {}, true],
  [
    "a Seed that disables it",
    { clusterCompatibility: ["seed"], autoEnable: ["seed"] },
    { extensions: [["audit", "disabled"]] },
    false,
  ],
])("%s decides whether an Extension's controller is wanted", (_, more, place, wanted) => {
  expect(isWanted(extension(more), place)).toBe(wanted);
});

test.each<[Deployment["policy"], Place, boolean]>([
  ["OnDemand", {}, false],
  ["Always", {}, true],
  ["Always", { deleting: true }, false],
  ["AlwaysExceptNoShoots", {}, false],
  ["AlwaysExceptNoShoots", { shoots: [workerless()] }, true],
])("policy %s on %j", (policy, place, wanted) => {
  expect(isWanted(extension({ primary: false }), place, { policy })).toBe(wanted);
});

test("a selector keeps a controller from Seeds that it does not take, whatever the policy", () => {
  const deployment: Deployment = { policy: "Always", seedSelector: { matchLabels: { region: "eu" } } };
  expect(isWanted(extension({ primary: false }), { labels: { region: "eu" } }, deployment)).toBe(true);
  expect(isWanted(extension({ primary: false }), { labels: { region: "us" } }, deployment)).toBe(false);
});

test.each<[string, Resource, Place, boolean]>([
  ["a Shoot that names its Extension", extension(), { shoots: [shoot({ extensions: [{ type: "audit" }] })] }, true],
  ["a Shoot's network", { kind: "Network", type: "flannel" }, { shoots: [shoot()] }, true],
  [
    "a bucket",
    { kind: "BackupBucket", type: "swift" },
    { words: wordsOfBucket({ spec: { provider: { type: "swift", region: "r" } } }) },
    true,
  ],
  [
    "the Seed's DNS provider, which its Shoots have",
    { kind: "DNSRecord", type: "rfc2136" },
    { seed: { dns: { internal: { type: "rfc2136" } } }, shoots: [shoot()] },
    true,
  ],
  ["the provider of a Seed without Shoots", { kind: "Worker", type: "metal" }, {}, false],
  ["a Shoot that it is given to unasked", extension({ autoEnable: ["shoot"] }), { shoots: [shoot()] }, false],
  [
    "a Seed that it is given to unasked",
    extension({ autoEnable: ["seed"], clusterCompatibility: ["seed"] }),
    { shoots: [shoot()] },
    false,
  ],
])("%s decides whether a registration that is being deleted stays on a Seed", (_, resource, place, wanted) => {
  for (const policy of ["OnDemand", "Always", "AlwaysExceptNoShoots"] as const) {
    const deleted = registration([resource], { policy }, { deletionTimestamp: "2026-01-02T00:00:00Z" });
    expect(reasonsToInstall(registeredOf(deleted), seedWith(place)).length > 0, policy).toBe(wanted);
  }
});

test.each<[string, Deployment | undefined, object]>([
  ["seed 001's chart", { type: "helm", providerConfig: { chart: "H4s" } }, { by: "helm" }],
  ["a ControllerDeployment", { deploymentRefs: [{ name: "d" }] }, { by: "reference", name: "d" }],
  ["an operator's type", { type: "landscaper" }, { by: "operator", type: "landscaper" }],
  ["nothing", undefined, { by: "others" }],
  ["a policy only", { policy: "Always" }, { by: "others" }],
])("%s says how a controller gets into a Seed", (_, deployment, method) => {
  expect(registeredOf(registration([], deployment)).method).toEqual(method);
});

test("of two primaries for one kind and type, the older one counts, whichever is looked at", () => {
  const both: Resource[] = [{ kind: "Worker", type: "metal" }];
  const older = registeredOf(registration(both, undefined, { name: "z" }));
  const younger = registeredOf(registration(both, undefined, { name: "a", creationTimestamp: "2026-01-01T00:00:01Z" }));
  expect(primaryConflicts(younger, [older, younger])).toEqual([{ kind: "Worker", type: "metal", primary: "z" }]);
  expect(primaryConflicts(older, [older, younger])).toEqual([]);
});

test("of two that are created in one second, the first by name counts; secondaries and other types never conflict", () => {
  const worker: Resource = { kind: "Worker", type: "metal" };
  const [a, b] = ["a", "b"].map((name) => registeredOf(registration([worker], undefined, { name })));
  const secondary = registeredOf(
    registration(
      [
        { ...worker, primary: false },
        { kind: "Worker", type: "aws" },
      ],
      undefined,
      { name: "c" },
    ),
  );
  if (a === undefined || b === undefined) throw new Error("two registrations are made above");
  expect(primaryConflicts(b, [a, b, secondary])).toHaveLength(1);
  expect(primaryConflicts(secondary, [a, b, secondary])).toEqual([]);
});

test("a hash tells contents apart, not the order in which they are written", () => {
  expect(hashOf({ a: 1, b: { c: [1, 2], d: 2 } })).toBe(hashOf({ b: { d: 2, c: [1, 2] }, a: 1 }));
  expect(hashOf({ a: [1, 2] })).not.toBe(hashOf({ a: [2, 1] }));
});
