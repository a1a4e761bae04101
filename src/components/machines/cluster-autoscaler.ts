import type { KubeObject } from "../../api/index.ts";
import { SHOOT_KUBECONFIG_FOLDER } from "../../api/names.ts";
import { commandLine, type Flags } from "../command-line.ts";
import { poolsOf, replicasOf, type ControlPlaneContext } from "../context.ts";
import { networksOf } from "../networks.ts";
import { machineProgramObjects } from "./workload.ts";

/** Name of the autoscaler's Deployment: providers' webhooks know it by that. */
export const CLUSTER_AUTOSCALER = "cluster-autoscaler";

const METRICS_PORT = 8085;

/**
 * Upstream's cluster-autoscaler, which says how many machines each pool has within its range. It has no pod while no pool
 * has a range, the Shoot sleeps, or no Worker controller has said which MachineDeployments there are.
 */
export function clusterAutoscaler(context: ControlPlaneContext): KubeObject[] {
  const { images, namespace } = context;
  return machineProgramObjects(context, {
    name: CLUSTER_AUTOSCALER,
    image: images.clusterAutoscaler,
    replicas: hasRanges(context) ? Math.min(1, replicasOf(context)) : 0,
    metricsPort: METRICS_PORT,
    callsProvider: false,
    memory: "30M",
    env: [
      { name: "CONTROL_NAMESPACE", value: namespace },
      { name: "TARGET_KUBECONFIG", value: `${SHOOT_KUBECONFIG_FOLDER}/kubeconfig` },
    ],
    command: [...commandLine("./cluster-autoscaler", flagsOf(context)), ...groupsOf(context)],
  });
}

const deploymentsOf = ({ machines }: ControlPlaneContext) => machines?.deployments ?? [];

const hasRanges = (context: ControlPlaneContext): boolean =>
  deploymentsOf(context).some(({ minimum, maximum }) => minimum < maximum);

/** One flag for each MachineDeployment. */
const groupsOf = (context: ControlPlaneContext): string[] =>
  deploymentsOf(context).map(
    ({ name, minimum, maximum }) => `--nodes=${minimum}:${maximum}:${context.namespace}.${name}`,
  );

/** Upstream's defaults (`SetDefaults_ClusterAutoscaler`): what a Shoot says of them is not acted on. */
function flagsOf(context: ControlPlaneContext): Flags {
  const byPriority = poolsOf(context).some(({ priority }) => priority !== undefined);
  return {
    address: `:${METRICS_PORT}`,
    kubeconfig: `${SHOOT_KUBECONFIG_FOLDER}/kubeconfig`,
    "cloud-provider": "mcm",
    stderrthreshold: "info",
    "skip-nodes-with-system-pods": false,
    "skip-nodes-with-local-storage": false,
    "expendable-pods-priority-cutoff": -10,
    "balance-similar-node-groups": true,
    expander: byPriority ? "priority,least-waste" : "least-waste",
    "max-graceful-termination-sec": 600,
    "max-node-provision-time": "20m0s",
    "initial-node-group-backoff-duration": "5m0s",
    "max-node-group-backoff-duration": "30m0s",
    "node-group-backoff-reset-timeout": "3h0m0s",
    "scale-down-utilization-threshold": 0.5,
    "scale-down-unneeded-time": "30m0s",
    "scale-down-delay-after-add": "1h0m0s",
    "scale-down-delay-after-delete": "0s",
    "scale-down-delay-after-failure": "3m0s",
    "scan-interval": "10s",
    "ignore-daemonsets-utilization": false,
    v: 2,
    "max-scale-down-parallelism": 10,
    "max-drain-parallelism": 1,
    "new-pod-scale-up-delay": "0s",
    "max-nodes-total": maxNodes(context),
    "emit-per-nodegroup-metrics": false,
    "max-binpacking-time": "5m0s",
  };
}

/** How many nodes the pods' network has room for, and the CloudProfile allows. */
function maxNodes(context: ControlPlaneContext): number {
  const { nodeCIDRMaskSize = 24 } = context.shoot.spec.kubernetes.kubeControllerManager ?? {};
  const podMask = Number(networksOf(context).pods.split("/")[1]);
  return Math.min(2 ** (nodeCIDRMaskSize - podMask), context.cloudProfile.spec.limits?.maxNodesTotal ?? Infinity);
}
