import { describe, expect, it } from "vitest";
import { offerCauses } from "../../../src/admission/cloud-profile.ts";
import { withdrawalCauses } from "../../../src/admission/in-use.ts";
import { profileCauses } from "../../../src/admission/shoot/profile.ts";
import { overrideCauses } from "../../../src/admission/namespaced-cloud-profile.ts";
import type { CloudProfile, NamespacedCloudProfile, Shoot } from "../../../src/api/index.ts";
import { movableShoot } from "../../support/migration-objects.ts";

type Offer = CloudProfile["spec"];

const now = new Date("2026-11-25T10:00:00Z");
const offer: Offer = {
  type: "local",
  kubernetes: { versions: [{ version: "1.34.4" }, { version: "1.33.1" }, { version: "1.32.0" }] },
  machineImages: [{ name: "linux", versions: [{ version: "1.0.0" }, { version: "2.0.0" }] }],
  machineTypes: [
    { name: "small", cpu: 1, memory: "1Gi" },
    { name: "large", cpu: 4, memory: "4Gi" },
  ],
  volumeTypes: [
    { name: "slow", class: "standard" },
    { name: "fast", class: "premium" },
    { name: "other", class: "premium" },
  ],
  regions: [{ name: "local", zones: [{ name: "a" }, { name: "b" }] }, { name: "other" }],
};

const user: Shoot = {
  ...movableShoot(),
  spec: {
    ...movableShoot().spec,
    provider: {
      type: "local",
      workers: [
        {
          ...{ name: "w", minimum: 1, maximum: 1, zones: ["a"], kubernetes: { version: "1.33.1" } },
          machine: { type: "small", image: { name: "linux", version: "1.0.0" } },
          volume: { type: "slow", size: "1Gi" },
          dataVolumes: [{ name: "d", type: "fast", size: "1Gi" }],
        },
      ],
    },
  },
};

it("a CloudProfile that is being deleted takes no new Shoot, and keeps those that it has", () => {
  const metadata = { name: "local", deletionTimestamp: "2026-11-25T09:00:00Z" };
  const profile = { apiVersion: "core.gardener.cloud/v1beta1", kind: "CloudProfile", metadata, spec: offer } as const;
  const fields = (old?: Shoot) =>
    profileCauses({ shoot: user, profile, now, ...(old && { old }) }).map(({ field }) => field);
  const elsewhere = { ...user, spec: { ...user.spec, cloudProfile: { kind: "CloudProfile", name: "other" } } };
  expect(fields()).toContain("spec.cloudProfile");
  expect(fields(elsewhere)).toContain("spec.cloudProfile");
  expect(fields(user)).not.toContain("spec.cloudProfile");
});

describe("a CloudProfile does not take back what a Shoot has", () => {
  it.each<[string, Partial<Offer>, string, string]>([
    [
      "its version",
      { kubernetes: { versions: offer.kubernetes.versions?.slice(1) } },
      "spec.kubernetes.versions",
      "1.34.4",
    ],
    [
      "a kubelet's version",
      { kubernetes: { versions: [{ version: "1.34.4" }] } },
      "spec.kubernetes.versions",
      "1.33.1",
    ],
    [
      "an image's version",
      { machineImages: [{ name: "linux", versions: [{ version: "2.0.0" }] }] },
      "spec.machineImages",
      "linux 1.0.0",
    ],
    ["an image", { machineImages: [] }, "spec.machineImages", "linux 1.0.0"],
    ["a machine type", { machineTypes: offer.machineTypes.slice(1) }, "spec.machineTypes", "small"],
    ["a volume type", { volumeTypes: offer.volumeTypes?.slice(1) }, "spec.volumeTypes", "slow"],
    ["a data volume's type", { volumeTypes: [{ name: "slow", class: "standard" }] }, "spec.volumeTypes", "fast"],
    ["its region", { regions: [{ name: "other" }] }, "spec.regions", "local"],
    ["a zone", { regions: [{ name: "local", zones: [{ name: "b" }] }, { name: "other" }] }, "spec.regions", "local a"],
  ])("%s", (_, change, field, what) => {
    const causes = withdrawalCauses({
      before: offer,
      after: { ...offer, ...change },
      shoots: [user],
      profile: "CloudProfile local",
    });
    const message = `${what} cannot be removed from CloudProfile local: it is in use by Shoot garden-dev/local`;
    expect(causes).toContainEqual({ field, message, forbidden: true });
  });
});

it("a CloudProfile takes back what no Shoot has", () => {
  const after: Offer = {
    ...offer,
    kubernetes: { versions: offer.kubernetes.versions?.slice(0, 2) },
    machineImages: [{ name: "linux", versions: [{ version: "1.0.0" }] }],
    machineTypes: offer.machineTypes.slice(0, 1),
    volumeTypes: offer.volumeTypes?.slice(0, 2),
    regions: [{ name: "local", zones: [{ name: "a" }] }],
  };
  expect(withdrawalCauses({ before: offer, after, shoots: [user], profile: "" })).toEqual([]);
});

it.each<[string, Partial<Offer>, string]>([
  ["half a version", { kubernetes: { versions: [{ version: "1.34" }] } }, "spec.kubernetes.versions[0].version"],
  [
    "a version twice",
    { kubernetes: { versions: [{ version: "1.34.4" }, { version: "1.34.4" }] } },
    "spec.kubernetes.versions[1].version",
  ],
  [
    "a machine type twice",
    { machineTypes: [...offer.machineTypes, ...offer.machineTypes].slice(1, 4) },
    "spec.machineTypes[2].name",
  ],
  [
    "a volume type twice",
    { volumeTypes: [...(offer.volumeTypes ?? []), { name: "slow", class: "x" }] },
    "spec.volumeTypes[3].name",
  ],
  ["a region twice", { regions: [{ name: "a" }, { name: "a" }] }, "spec.regions[1].name"],
  [
    "a zone twice",
    { regions: [{ name: "a", zones: [{ name: "z" }, { name: "z" }] }] },
    "spec.regions[0].zones[1].name",
  ],
  ["an image twice", { machineImages: [...offer.machineImages, ...offer.machineImages] }, "spec.machineImages[1].name"],
  [
    "an image's version twice",
    { machineImages: [{ name: "a", versions: [{ version: "1" }, { version: "1" }] }] },
    "spec.machineImages[0].versions[1].version",
  ],
])("a CloudProfile does not offer %s", (_, change, field) => {
  expect(offerCauses(offer)).toEqual([]);
  expect(offerCauses({ ...offer, ...change }).map((cause) => cause.field)).toContain(field);
});

describe("a NamespacedCloudProfile", () => {
  type Own = NamespacedCloudProfile["spec"];
  const causes = (own: Partial<Own>, old?: Partial<Own>) => {
    const whole = (spec: Partial<Own>): Own => ({ ...spec, parent: { kind: "CloudProfile", name: "local" } });
    return overrideCauses(whole(own), old && whole(old), { parent: offer, now }).map(
      ({ field, message }) => `${field}: ${message}`,
    );
  };
  const version = (name: string, expirationDate?: string) => ({
    kubernetes: { versions: [{ version: name, ...(expirationDate !== undefined && { expirationDate }) }] },
  });
  const image = (change: object) => ({
    machineImages: [{ name: "linux", versions: [{ version: "1.0.0", ...change }] }],
  });
  const [past, future] = ["2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"];

  it.each<[string, Partial<Own>, Partial<Own> | undefined, string]>([
    ["cannot add a version", version("1.99.0", future), undefined, "is not offered by the parent CloudProfile"],
    ["has to say until when", version("1.34.4"), undefined, "expirationDate: must be set"],
    ["cannot end a version in the past", version("1.34.4", past), {}, "is over"],
    [
      "cannot change the parent's image",
      image({ architectures: ["arm64"], expirationDate: future }),
      undefined,
      "is the parent",
    ],
    ["has to say until when of an image", image({}), undefined, "expirationDate: must be set"],
    ["cannot end an image in the past", image({ expirationDate: past }), {}, "is over"],
  ])("%s", (_, own, old, message) => {
    expect(causes(own, old)).toEqual([expect.stringContaining(message)]);
  });

  it.each<[string, Partial<Own>, Partial<Own> | undefined]>([
    ["may let a version live longer", version("1.34.4", future), {}],
    ["may keep a date that is over", version("1.34.4", past), version("1.34.4", past)],
    ["may be written anew with a date that is over", version("1.34.4", past), undefined],
    ["may let an image live longer", image({ expirationDate: future }), {}],
    [
      "keeps its own version that the parent has by now",
      image({ architectures: ["arm64"] }),
      image({ architectures: ["arm64"] }),
    ],
    ["may bring images of its own", { machineImages: [{ name: "mine", versions: [{ version: "1" }] }] }, {}],
  ])("%s", (_, own, old) => {
    expect(causes(own, old)).toEqual([]);
  });
});
