import type { KubeObject, OperatingSystemConfig } from "../api/index.ts";
import {
  nodeObjectName,
  operatingSystemConfigs,
  poolsOf,
  secretFile,
  type ControlPlaneContext,
} from "../components/index.ts";
import { staticPod, type StaticPod } from "./static-pods.ts";

/** What the machines of a control plane become. */
export interface ControlPlaneMachines {
  /** For all of them; files with a `hostName` are for one. */
  readonly config: OperatingSystemConfig;
  readonly pods: readonly StaticPod[];
}

/** The kubeconfig of an administrator, on each node of the control plane. */
export const ADMIN_KUBECONFIG = "/etc/kubernetes/admin.conf";

/**
 * The configuration of the machines that carry the control plane: that of their pool, with the static pods of these workloads,
 * and what the first kubelet and an administrator come in with. `objects` has the Secrets and ConfigMaps that the workloads
 * mount. Throws where the Shoot has no pool for a control plane, and NoStaticPodError for a workload that is none.
 */
export function controlPlaneMachines(
  context: ControlPlaneContext,
  workloads: readonly KubeObject[],
  objects: readonly KubeObject[],
): ControlPlaneMachines {
  const { nodes = [], shoot } = context;
  const pool = poolsOf(context).find(({ controlPlane }) => controlPlane !== undefined);
  if (pool === undefined)
    throw new Error(
      `Shoot ${shoot.metadata.name} has no worker pool with controlPlane: add it in spec.provider.workers`,
    );
  const [, config] = operatingSystemConfigs(context, pool);
  if (config === undefined) throw new Error(`pool ${pool.name} has no configuration of its machines`);
  const names = nodes.map(({ name }) => name);
  const pods = workloads.map((workload) => staticPod({ workload, objects, nodes: names }));
  const kubeconfigs = names.map((hostName) => ({
    ...secretFile("/var/lib/kubelet/kubeconfig-real", nodeObjectName("kubelet", hostName), "kubeconfig", 0o600),
    hostName,
  }));
  const files = [
    ...(config.spec.files ?? []),
    ...kubeconfigs,
    secretFile(ADMIN_KUBECONFIG, "gardener", "kubeconfig", 0o600),
    ...pods.flatMap((pod) => pod.files),
    ...pods.map(({ manifest }) => manifest),
  ];
  return { config: { ...config, spec: { ...config.spec, files } }, pods };
}
