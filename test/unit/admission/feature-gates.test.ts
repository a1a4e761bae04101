import { expect, test } from "vitest";
import { gateCauses, gateWarnings } from "../../../src/admission/shoot/feature-gates.ts";
import type { Shoot } from "../../../src/api/index.ts";

const shootWith = (featureGates: object, version = "1.34.4", workers: readonly object[] = []): Shoot =>
  ({
    spec: { kubernetes: { version, kubeAPIServer: { featureGates } }, provider: { workers } },
  }) as unknown as Shoot;

const pool = (name: string, version?: string) => ({
  kubernetes: { ...(version !== undefined && { version }), kubelet: { featureGates: { [name]: true } } },
});

test("gates that a version has are accepted, those that it has for good with the value that they have", () => {
  const gates = { AllAlpha: true, ContextualLogging: false, SidecarContainers: true, WatchListClient: true };
  expect(gateCauses(shootWith(gates))).toEqual([]);
  expect(gateWarnings(shootWith(gates))).toEqual([]);
});

test("an unknown gate is refused with the one that may be meant", () => {
  expect(gateCauses(shootWith({ ContextualLoging: true, Elsewhere: true }))).toEqual([
    {
      field: "spec.kubernetes.kubeAPIServer.featureGates.ContextualLoging",
      message: "is no feature gate of Kubernetes 1.34 (did you mean ContextualLogging?)",
    },
    {
      field: "spec.kubernetes.kubeAPIServer.featureGates.Elsewhere",
      message: "is no feature gate of Kubernetes 1.34",
    },
  ]);
});

test("a gate that its version has for good cannot have another value", () => {
  const messages = gateCauses(shootWith({ SidecarContainers: false, AllowServiceLBStatusOnNonLB: true }));
  expect(messages.map(({ message }) => message)).toEqual([
    "is true for good in Kubernetes 1.34: leave it out",
    "is false for good in Kubernetes 1.34: leave it out",
  ]);
});

test("a pool's gates are judged by the pool's own version", () => {
  const shoot = shootWith({}, "1.34.4", [pool("NoSuchGate"), pool("NoSuchGate", "1.33.7")]);
  expect(gateCauses(shoot).map(({ field }) => field)).toEqual([
    "spec.provider.workers[0].kubernetes.kubelet.featureGates.NoSuchGate",
  ]);
  expect(gateWarnings(shoot)).toEqual([
    expect.stringContaining("spec.provider.workers[1].kubernetes.kubelet.featureGates: not judged"),
  ]);
});

test("gates of a version that admission does not know are admitted with a warning, once", () => {
  const shoot = shootWith({ NoSuchGate: true }, "1.99.0");
  expect(gateCauses(shoot)).toEqual([]);
  expect(gateWarnings(shoot)).toEqual([expect.stringContaining("the gates of Kubernetes 1.99 are not known here")]);
  expect(gateWarnings(shoot, shoot)).toEqual([]);
  expect(gateWarnings(shootWith({}, "1.99.0"))).toEqual([]);
});

test("a refusal does not repeat a thousand gates", () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`Gate${n}`, true]));
  expect(gateCauses(shootWith(many))).toHaveLength(10);
});
