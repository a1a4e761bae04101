import { expect, test } from "vitest";
import { profileCauses } from "../../../src/admission/shoot/profile.ts";
import type { Shoot } from "../../../src/api/index.ts";
import { withChange } from "../../support/changed-shoots/case.ts";
import { profileFor } from "../../support/cloud-profile.ts";
import { exampleShoot } from "../../support/control-plane-context.ts";

const now = new Date("2026-11-29T10:00:00Z");
const small = withChange(exampleShoot(), {
  "spec.provider.workers[0].machine": { type: "small" },
  "spec.provider.workers[0].kubernetes": undefined,
});
const profile = profileFor(small, {
  versions: [small.spec.kubernetes.version],
  machineTypes: [
    { name: "small", cpu: "1", memory: "1Gi" },
    { name: "large", cpu: 8, memory: "32Gi" },
  ],
});

const causesOf = (change: Parameters<typeof withChange>[1], old?: Shoot) =>
  profileCauses({ shoot: withChange(old ?? small, change), old, profile, now });

const everywhere = "spec.kubernetes.kubelet.kubeReserved";
const ofPool = "spec.provider.workers[0].kubernetes.kubelet.kubeReserved";

const memoryOf = (reserved: string, threshold: string) =>
  `kubeReserved ${reserved} and evictionHard ${threshold} leave pods nothing of the 1Gi of memory that machine type small has: set less, or choose another machine type`;

test.each([
  ["the Shoot", everywhere],
  ["the pool", ofPool],
])("%s leaves its pods something of what their machines have", (_, field) => {
  expect(causesOf({ [field]: { cpu: "999m", memory: "972Mi" } })).toEqual([]);
  expect(causesOf({ [field]: { cpu: 1, memory: "973Mi", pid: "20k" } })).toEqual([
    {
      field: `${field}.cpu`,
      message:
        "kubeReserved 1 leaves pods nothing of the 1 of cpu that machine type small has: set less, or choose another machine type",
    },
    { field: `${field}.memory`, message: memoryOf("973Mi", "5% (default)") },
  ]);
});

test("a pool's own settings take the place of the Shoot's", () => {
  expect(causesOf({ [everywhere]: { cpu: "2" }, [ofPool]: { memory: "512Mi" } })).toEqual([]);
});

test("what kubelets reserve by default counts where a Shoot says nothing, for pools that are new or get other machines", () => {
  const refusal = {
    field: "spec.provider.workers[0].machine.type",
    message: memoryOf("1Gi (default)", "5% (default)"),
  };
  const none = { [everywhere]: undefined };
  expect(causesOf(none)).toEqual([refusal]);
  expect(causesOf({ [everywhere]: { cpu: "100m" } })).toEqual([refusal]);
  expect(causesOf({ "spec.provider.workers[0].machine": { type: "large" }, ...none })).toEqual([]);
  const old = withChange(small, none);
  expect(causesOf({ "spec.provider.workers[0].maximum": 9 }, old)).toEqual([]);
  expect(causesOf({ "spec.provider.workers[0].name": "other" }, old)).toEqual([refusal]);
});

test("a hard eviction threshold is kept from pods, too", () => {
  const hard = "spec.kubernetes.kubelet.evictionHard";
  const reserved = { [everywhere]: { memory: "512Mi" } };
  expect(causesOf({ ...reserved, [hard]: { memoryAvailable: "511Mi" } })).toEqual([]);
  for (const memoryAvailable of ["512Mi", 536_870_912, "50%"])
    expect(causesOf({ ...reserved, [hard]: { memoryAvailable } })).toEqual([
      { field: `${everywhere}.memory`, message: memoryOf("512Mi", String(memoryAvailable)) },
    ]);
  for (const ignored of ["0%", "100%"])
    expect(causesOf({ ...reserved, [hard]: { memoryAvailable: ignored } }), "as by kubelets").toEqual([]);
});

test("the disk of kubelets leaves something for pods: its volume, else what the machine type has", () => {
  const storage = { [everywhere]: { memory: "512Mi", ephemeralStorage: "45Gi" } };
  const pool = "spec.provider.workers[0]";
  const message = (size: string) =>
    `kubeReserved 45Gi and evictionHard 5% (default) leave pods nothing of the ${size} of disk that it has: set less, or choose a larger volume`;
  const field = `${everywhere}.ephemeralStorage`;
  expect(causesOf(storage)).toEqual([]);
  expect(causesOf({ ...storage, [`${pool}.volume`]: { size: "40Gi" } })).toEqual([{ field, message: message("40Gi") }]);
  const data = {
    [`${pool}.dataVolumes`]: [{ name: "kubelet", size: "47Gi" }],
    [`${pool}.kubeletDataVolumeName`]: "kubelet",
  };
  expect(causesOf({ ...storage, ...data, [`${pool}.volume`]: { size: "100Gi" } })).toEqual([
    { field, message: message("47Gi") },
  ]);
});

test("another machine type, and other settings, are judged anew; what was there before stays", () => {
  const large = withChange(small, {
    "spec.provider.workers[0].machine": { type: "large" },
    [everywhere]: { cpu: "2", memory: "512Mi" },
  });
  const refusal = {
    field: `${everywhere}.cpu`,
    message:
      "kubeReserved 2 leaves pods nothing of the 1 of cpu that machine type small has: set less, or choose another machine type",
  };
  expect(causesOf({ "spec.provider.workers[0].machine": { type: "small" } }, large)).toEqual([refusal]);
  const kept = withChange(small, { [everywhere]: { cpu: "2" } });
  expect(causesOf({ "spec.provider.workers[0].maximum": 9 }, kept)).toEqual([]);
  expect(causesOf({ [`${everywhere}.memory`]: "512Mi" }, kept)).toEqual([refusal]);
});
