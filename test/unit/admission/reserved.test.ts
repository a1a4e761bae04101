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

test.each([
  ["the Shoot", everywhere],
  ["the pool", ofPool],
])("%s leaves its machines something of what they have", (_, field) => {
  expect(causesOf({ [field]: { cpu: "1", memory: "1024Mi" } })).toEqual([]);
  expect(causesOf({ [field]: { cpu: "1001m", memory: "1025Mi", pid: "20k" } })).toEqual([
    {
      field: `${field}.cpu`,
      message: "1001m is more than machine type small has, 1: reserve less, or choose another type",
    },
    {
      field: `${field}.memory`,
      message: "1025Mi is more than machine type small has, 1Gi: reserve less, or choose another type",
    },
  ]);
});

test("a pool's own settings take the place of the Shoot's", () => {
  expect(causesOf({ [everywhere]: { cpu: "2" }, [ofPool]: { memory: "1Gi" } })).toEqual([]);
});

test("another machine type, and other settings, are judged anew; what was there before stays", () => {
  const large = withChange(small, {
    "spec.provider.workers[0].machine": { type: "large" },
    [everywhere]: { cpu: "2" },
  });
  const refusal = {
    field: `${everywhere}.cpu`,
    message: "2 is more than machine type small has, 1: reserve less, or choose another type",
  };
  expect(causesOf({ "spec.provider.workers[0].machine": { type: "small" } }, large)).toEqual([refusal]);
  const kept = withChange(small, { [everywhere]: { cpu: "2" } });
  expect(causesOf({ "spec.provider.workers[0].maximum": 9 }, kept)).toEqual([]);
  expect(causesOf({ [`${everywhere}.memory`]: "512Mi" }, kept)).toEqual([refusal]);
});
