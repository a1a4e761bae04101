import { expect, it } from "vitest";
import { mergeProfiles } from "../../../src/api/core/profile-merge.ts";
import type { CloudProfile, NamespacedCloudProfile } from "../../../src/api/index.ts";

const parent: CloudProfile["spec"] = {
  type: "local",
  caBundle: "A",
  kubernetes: {
    versions: [
      { version: "1.34.4", classification: "supported" },
      { version: "1.33.1", expirationDate: "a" },
    ],
  },
  machineImages: [
    {
      name: "linux",
      updateStrategy: "major",
      versions: [{ version: "1.0.0", architectures: ["arm64"], expirationDate: "a" }],
    },
  ],
  machineTypes: [
    { name: "small", cpu: 1, memory: "1Gi" },
    { name: "large", cpu: 4, memory: "4Gi" },
  ],
  regions: [{ name: "r" }],
  limits: { maxNodesTotal: 10 },
};

const merge = (own: Omit<NamespacedCloudProfile["spec"], "parent">) =>
  mergeProfiles(parent, { ...own, parent: { kind: "CloudProfile", name: "local" } });

it("a project that changes nothing has what its parent offers", () => {
  expect(merge({})).toEqual(parent);
});

it("a version keeps what its parent says of it, and is good for as long as the project says", () => {
  expect(
    merge({ kubernetes: { versions: [{ version: "1.34.4", expirationDate: "b", classification: "preview" }] } })
      .kubernetes,
  ).toEqual({
    versions: [
      { version: "1.34.4", classification: "supported", expirationDate: "b" },
      { version: "1.33.1", expirationDate: "a" },
    ],
  });
});

it("a version that the parent does not offer is not added", () => {
  expect(merge({ kubernetes: { versions: [{ version: "1.99.0", expirationDate: "b" }] } }).kubernetes).toEqual(
    parent.kubernetes,
  );
});

it("images gain versions, and their parent's versions another date only", () => {
  const own = { version: "2.0.0", architectures: ["amd64"] };
  const { machineImages } = merge({
    machineImages: [
      { name: "linux", updateStrategy: "patch", versions: [{ version: "1.0.0", expirationDate: "b" }, own] },
      { name: "mine", versions: [own] },
    ],
  });
  expect(machineImages).toEqual([
    {
      name: "linux",
      updateStrategy: "patch",
      versions: [{ version: "1.0.0", architectures: ["arm64"], expirationDate: "b" }, own],
    },
    { name: "mine", versions: [own] },
  ]);
});

it("an image version that the project had before its parent stays as the project has it", () => {
  const own = { version: "1.0.0", architectures: ["amd64"] };
  expect(merge({ machineImages: [{ name: "linux", versions: [own] }] }).machineImages[0]?.versions).toEqual([own]);
});

it("machine and volume types are replaced and added by name", () => {
  const huge = { name: "huge", cpu: 64, memory: "1Ti" };
  const large = { name: "large", cpu: 8, memory: "8Gi" };
  const volumeTypes = [{ name: "fast", class: "premium" }];
  const merged = merge({ machineTypes: [large, huge], volumeTypes });
  expect(merged.machineTypes).toEqual([parent.machineTypes[0], large, huge]);
  expect(merged.volumeTypes).toEqual(volumeTypes);
});

it("authorities add up, and a limit is the project's", () => {
  expect(merge({ caBundle: "B", limits: { maxNodesTotal: 20 } })).toMatchObject({
    caBundle: "AB",
    limits: { maxNodesTotal: 20 },
  });
});
