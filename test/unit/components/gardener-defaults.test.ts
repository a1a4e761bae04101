import { expect, it } from "vitest";
import { withGardenerDefaults } from "../../../src/components/gardener-defaults.ts";
import { exampleShoot } from "../../support/control-plane-context.ts";

it("a Shoot has the defaults that extensions count on, and keeps what its user has set", () => {
  const kubernetes = { version: "1.34.4", kubeAPIServer: { eventTTL: "4h" }, kubelet: { failSwapOn: false } };
  const shoot = exampleShoot({ kubernetes, networking: { type: "local", pods: "10.1.0.0/16" } });
  const { spec, ...rest } = withGardenerDefaults(shoot);
  expect(spec).toMatchObject({
    kubernetes: {
      version: "1.34.4",
      kubeAPIServer: {
        eventTTL: "4h",
        requests: { maxNonMutatingInflight: 400, maxMutatingInflight: 200 },
        encryptionConfig: { provider: { type: "aescbc" } },
        defaultNotReadyTolerationSeconds: 300,
      },
      kubeControllerManager: { nodeCIDRMaskSize: 24, nodeMonitorGracePeriod: "40s" },
      kubeProxy: { enabled: true, mode: "IPTables" },
      kubelet: { failSwapOn: false, serializeImagePulls: true },
    },
    networking: { type: "local", pods: "10.1.0.0/16", ipFamilies: ["IPv4"] },
    maintenance: { autoUpdate: { kubernetesVersion: false, machineImageVersion: false } },
    provider: { ...shoot.spec.provider, workersSettings: { sshAccess: { enabled: true } } },
  });
  expect(rest).toEqual({ apiVersion: shoot.apiVersion, kind: shoot.kind, metadata: shoot.metadata });
});

it("a Shoot has the nodes' network that its provider has chosen, unless it names one", () => {
  const status = { networking: { nodes: ["10.250.0.0/16"] } };
  const nodesOf = (networking: { type: string; nodes?: string }) =>
    withGardenerDefaults({ ...exampleShoot({ networking }), status }).spec.networking?.nodes;
  expect(nodesOf({ type: "local" })).toBe("10.250.0.0/16");
  expect(nodesOf({ type: "local", nodes: "10.1.0.0/16" })).toBe("10.1.0.0/16");
});

it("a Shoot without workers has no defaults for them", () => {
  const { spec } = withGardenerDefaults(
    exampleShoot({ provider: { type: "local" }, kubernetes: { version: "1.34.4" } }),
  );
  expect(Object.keys(spec.kubernetes).sort()).toEqual(["kubeAPIServer", "version"]);
  expect(spec.kubernetes.kubeAPIServer).not.toHaveProperty("defaultNotReadyTolerationSeconds");
  expect(spec.provider).toEqual({ type: "local" });
});

it("a Shoot that has its defaults is given no others", () => {
  const once = withGardenerDefaults(exampleShoot());
  expect(withGardenerDefaults(once)).toEqual(once);
});

it("a Shoot's eviction thresholds are texts: extensions in Go read no others", () => {
  const kubelet = {
    evictionHard: { memoryAvailable: 104857600, nodeFSAvailable: "5%" },
    evictionSoft: { memoryAvailable: 209715200 },
    kubeReserved: { cpu: 1 },
  };
  const provider = { type: "local", workers: [{ name: "a", minimum: 1, maximum: 1, machine: { type: "local" } }] };
  const workers = provider.workers.map((pool) => ({ ...pool, kubernetes: { kubelet } }));
  const shoot = exampleShoot({ kubernetes: { version: "1.34.4", kubelet }, provider: { ...provider, workers } });
  const { spec } = withGardenerDefaults(shoot);
  for (const one of [spec.kubernetes.kubelet, spec.provider.workers?.[0]?.kubernetes?.kubelet])
    expect(one).toMatchObject({
      evictionHard: { memoryAvailable: "104857600", nodeFSAvailable: "5%" },
      evictionSoft: { memoryAvailable: "209715200" },
      kubeReserved: { cpu: 1 },
    });
});
