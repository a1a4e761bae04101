import { expect, test } from "vitest";
import { kubeletCauses } from "../../../src/admission/shoot/kubelet.ts";
import { ruleCauses } from "../../../src/admission/shoot/rules.ts";
import { withChange } from "../../support/changed-shoots/case.ts";
import { exampleShoot } from "../../support/control-plane-context.ts";

// Each is what kubelets themselves refuse as they start: their validation, and the code that reads thresholds, sizes and reservations.

const whole = "spec.kubernetes.kubelet";
const ofPool = "spec.provider.workers[0].kubernetes.kubelet";
const shoot = withChange(exampleShoot(), { [ofPool]: undefined });

test.each<[string, string, unknown, string]>([
  [
    "an eviction threshold of nothing",
    "evictionHard.memoryAvailable",
    "0",
    "must be more than 0, or 0% for no threshold",
  ],
  ["one of nothing as a number", "evictionHard.nodeFSInodesFree", 0, "must be more than 0, or 0% for no threshold"],
  ["one of more than all", "evictionSoft.imageFSAvailable", "101%", "must be at most 100%"],
  ["a hard one of more than all", "evictionHard.nodeFSAvailable", "100.5%", "must be at most 100%"],
  [
    "a share of nothing to reclaim",
    "evictionMinimumReclaim.nodeFSAvailable",
    "0%",
    "must be more than 0%; 0 asks for nothing",
  ],
  ["logs of part of a byte", "containerLogMaxSize", "500m", "must be a whole number up to 1Ti, such as 100Mi"],
  ["logs of a broken number", "containerLogMaxSize", "1.5Gi", "must be a whole number up to 1Ti, such as 100Mi"],
  ["logs beyond all disks", "containerLogMaxSize", "8Ei", "must be a whole number up to 1Ti, such as 100Mi"],
  [
    "certificates that kubelets cannot ask for",
    "featureGates.RotateKubeletServerCertificate",
    false,
    "must not be false: kubelets ask the Shoot's API server for their serving certificates",
  ],
  [
    "more processes than a kernel has",
    "kubeReserved.pid",
    "4194305",
    "must be at most 4194304, the most that a kernel has",
  ],
])("%s is refused, of the Shoot and of a pool", (_, name, value, message) => {
  for (const field of [whole, ofPool])
    expect(kubeletCauses(withChange(shoot, { [`${field}.${name}`]: value }))).toContainEqual({
      ...{ field: `${field}.${name}`, message },
    });
});

test.each<[string, object]>([
  ["thresholds that kubelets ignore", { evictionHard: { memoryAvailable: "0%", nodeFSAvailable: "100%" } }],
  ["thresholds as numbers", { evictionHard: { memoryAvailable: 104857600 } }],
  ["nothing to reclaim", { evictionMinimumReclaim: { memoryAvailable: "0Mi", nodeFSAvailable: 0 } }],
  ["logs of a size in any unit", { containerLogMaxSize: "1Gi" }],
  ["logs of a size with an exponent", { containerLogMaxSize: "1e9" }],
  ["logs of a size as a number", { containerLogMaxSize: 1048576 }],
  ["a gate that serving certificates do not need", { featureGates: { RotateKubeletServerCertificate: true } }],
  ["CPUs for pods alone, with the default reservation", { cpuManagerPolicy: "static" }],
  ["swap", { failSwapOn: false, memorySwap: { swapBehavior: "LimitedSwap" } }],
])("%s are admitted", (_, kubelet) => {
  expect(kubeletCauses(withChange(shoot, { [whole]: kubelet }))).toEqual([]);
});

test("CPUs for pods alone need CPUs for all else", () => {
  for (const cpu of ["0", 0, "0m"])
    expect(
      kubeletCauses(withChange(shoot, { [whole]: { cpuManagerPolicy: "static", kubeReserved: { cpu } } })),
    ).toEqual([{ field: `${whole}.kubeReserved.cpu`, message: "must be more than 0 with cpuManagerPolicy: static" }]);
  expect(kubeletCauses(withChange(shoot, { [whole]: { kubeReserved: { cpu: "0" } } }))).toEqual([]);
});

test("swap is not described for machines whose kubelets end where there is any", () => {
  const memorySwap = { swapBehavior: "LimitedSwap" };
  for (const more of [{}, { failSwapOn: true }])
    expect(kubeletCauses(withChange(shoot, { [whole]: { memorySwap, ...more } }))).toEqual([
      { field: `${whole}.memorySwap`, message: "can be set only with failSwapOn: false" },
    ]);
});

test("what was admitted before stands against no other change", () => {
  const old = withChange(shoot, { [`${whole}.containerLogMaxSize`]: "1.5Gi" });
  expect(ruleCauses({ shoot: withChange(old, { [`${whole}.maxPods`]: 50 }), old })).toEqual([]);
});
