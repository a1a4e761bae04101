import { expect, test } from "vitest";
import { profileCauses } from "../../../src/admission/shoot/profile.ts";
import type { Shoot } from "../../../src/api/index.ts";
import { profileFor } from "../../support/cloud-profile.ts";
import { exampleShoot } from "../../support/control-plane-context.ts";
import { withChange } from "../../support/changed-shoots/case.ts";

const now = new Date("2026-11-29T10:00:00Z");
const image = {
  version: "1.0.0",
  kubeletVersionConstraint: "< 1.34.4",
  expirationDate: "2026-11-01T00:00:00Z",
  cri: [{ name: "containerd" }],
};
const before = withChange(exampleShoot(), {
  "spec.kubernetes.version": "1.34.3",
  "spec.provider.workers[0].machine.image": { name: "old", version: "1.0.0" },
});
const profile = profileFor(before, {
  versions: ["1.34.3", "1.34.4"],
  machineImages: [{ name: "old", versions: [image] }],
  machineTypes: (before.spec.provider.workers ?? []).map(({ machine }) => ({
    ...{ name: machine.type, cpu: "4", gpu: "0", memory: "8Gi" },
  })),
});

/** What stands against a change of a Shoot whose machines run an image for older kubelets, which has expired meanwhile. */
const causesOf = (change: Parameters<typeof withChange>[1], old: Shoot = before) =>
  profileCauses({ shoot: withChange(old, change), old, profile, now });

const refusal = {
  field: "spec.provider.workers[0].machine.image.version",
  message: "the machine image is for kubelets < 1.34.4, not 1.34.4: choose another version",
};

test("machines keep an image that has expired", () => {
  expect(causesOf({ "spec.provider.workers[0].maximum": 7 })).toEqual([]);
});

test("a Shoot gets no version of Kubernetes with which its machines' image does not go", () => {
  expect(causesOf({ "spec.kubernetes.version": "1.34.4" })).toEqual([refusal]);
});

test("a Shoot gets a newer version of Kubernetes while its pool keeps the one with which its image goes", () => {
  const version = { "spec.provider.workers[0].kubernetes": { version: "1.34.3" } };
  expect(causesOf({ "spec.kubernetes.version": "1.34.4", ...version })).toEqual([]);
  expect(causesOf({ "spec.provider.workers[0].kubernetes": undefined }, withChange(before, version))).toEqual([]);
  const ahead = withChange(before, { "spec.kubernetes.version": "1.34.4", ...version });
  expect(causesOf({ "spec.provider.workers[0].kubernetes": undefined }, ahead)).toEqual([refusal]);
});

test("machines get no container runtime that their image has not", () => {
  expect(causesOf({ "spec.provider.workers[0].cri": { name: "other" } })).toEqual([
    { field: "spec.provider.workers[0].cri.name", message: "the machine image has containerd, not other" },
  ]);
});
