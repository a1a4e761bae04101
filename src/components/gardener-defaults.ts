import type { Shoot } from "../api/index.ts";
import { IMAGE_GC } from "../api/shoot/kubelet-defaults.ts";
import { withTextualThresholds } from "./textual-thresholds.ts";

/**
 * A Shoot as extensions know it from Gardener, whose API server fills in what users leave out: their code reads these
 * fields without asking whether they are there. The values are those that hold here, so that nothing untrue is said; a
 * window for maintenance does not exist.
 */
export function withGardenerDefaults(shoot: Shoot): Shoot {
  const hasWorkers = (shoot.spec.provider.workers ?? []).length > 0;
  const defaults = hasWorkers ? filledIn(withWorkers, always) : always;
  const { spec } = withTextualThresholds(shoot);
  return { ...shoot, spec: filledIn(filledIn(networksOf(shoot), defaults), spec) as Shoot["spec"] };
}

/** The nodes' network, where the provider has chosen it: upstream writes it into the Shoot's spec. */
function networksOf({ status }: Shoot): object {
  const [nodes] = status?.networking?.nodes ?? [];
  return nodes === undefined ? {} : { networking: { nodes } };
}

const always = {
  kubernetes: {
    kubeAPIServer: {
      requests: { maxNonMutatingInflight: 400, maxMutatingInflight: 200 },
      eventTTL: "1h",
      logging: { verbosity: 0 },
      encryptionConfig: { provider: { type: "aescbc" } },
    },
  },
  maintenance: { autoUpdate: { kubernetesVersion: false } },
  networking: { ipFamilies: ["IPv4"] },
};

const withWorkers = {
  kubernetes: {
    kubeAPIServer: { defaultNotReadyTolerationSeconds: 300, defaultUnreachableTolerationSeconds: 300 },
    kubeControllerManager: { nodeCIDRMaskSize: 24, nodeMonitorGracePeriod: "40s" },
    kubeScheduler: { profile: "balanced" },
    kubeProxy: { enabled: true, mode: "IPTables" },
    kubelet: {
      failSwapOn: true,
      imageGCHighThresholdPercent: IMAGE_GC.high,
      imageGCLowThresholdPercent: IMAGE_GC.low,
      imageMinimumGCAge: "2m0s",
      imageMaximumGCAge: "0s",
      serializeImagePulls: true,
    },
  },
  maintenance: { autoUpdate: { machineImageVersion: false } },
  provider: { workersSettings: { sshAccess: { enabled: true } } },
};

/** What is given, and below it, at any depth, the defaults for what is not. */
function filledIn(defaults: object, given: object): object {
  const own = new Map<string, unknown>(Object.entries(given));
  const entries = Object.entries(defaults).map(([name, value]: [string, unknown]): [string, unknown] => {
    const known = own.get(name);
    return [name, isFields(value) && isFields(known) ? filledIn(value, known) : (known ?? value)];
  });
  return { ...given, ...Object.fromEntries(entries) };
}

const isFields = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);
