import type { KubeObject } from "../../api/index.ts";
import { SHOOT_KUBECONFIG_FOLDER } from "../../api/names.ts";
import { commandLine } from "../command-line.ts";
import type { ControlPlaneContext } from "../context.ts";
import { probe } from "../workload.ts";
import { machineProgramObjects } from "./workload.ts";

/** Name of the manager's Deployment: providers' webhooks and Worker controllers know it by that. */
export const MACHINE_CONTROLLER_MANAGER = "machine-controller-manager";

const METRICS_PORT = 10258;

/**
 * Upstream's machine-controller-manager, which makes and removes machines as a provider's Worker controller asks. The
 * provider's webhook adds the container that talks to its cloud (upstream: `ProviderSidecarContainer`).
 */
export function machineControllerManager(context: ControlPlaneContext): KubeObject[] {
  return machineProgramObjects(context, {
    name: MACHINE_CONTROLLER_MANAGER,
    image: context.images.machineControllerManager,
    replicas: context.machines?.managerReplicas ?? 0,
    metricsPort: METRICS_PORT,
    callsProvider: true,
    memory: "20M",
    livenessProbe: {
      ...probe("/healthz", METRICS_PORT, { periodSeconds: 10, failureThreshold: 3 }, "HTTP"),
      initialDelaySeconds: 30,
    },
    command: commandLine("./machine-controller-manager", {
      "control-kubeconfig": "inClusterConfig",
      "machine-safety-overshooting-period": "1m",
      namespace: context.namespace,
      port: METRICS_PORT,
      "safety-up": 2,
      "safety-down": 1,
      "target-kubeconfig": `${SHOOT_KUBECONFIG_FOLDER}/kubeconfig`,
      "concurrent-syncs": 30,
      "kube-api-qps": 150,
      "kube-api-burst": 200,
      v: 3,
    }),
  });
}
