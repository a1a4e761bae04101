import { ADMIN_KUBECONFIG, EXPOSED_KUBECONFIG } from "../api/names.ts";
import type { KubeObject, OperatingSystemConfig } from "../api/index.ts";
import {
  apiServerNames,
  EXPOSED_ADMIN,
  exposureOf,
  imageFile,
  nodeObjectName,
  operatingSystemConfigs,
  poolsOf,
  secretFile,
  storeOf,
  type ControlPlaneContext,
  type WorkerPool,
} from "../components/index.ts";
import { staticPod, type StaticPod } from "./static-pods.ts";

/** What the machines of a control plane become. */
export interface ControlPlaneMachines {
  /** For all of them; files with a `hostName` are for one. */
  readonly config: OperatingSystemConfig;
  readonly pods: readonly StaticPod[];
}

/** What the machines of a control plane are made from, beside its context. */
export interface MachineSources {
  /** Those that become static pods, as they stand after webhooks. */
  readonly workloads: readonly KubeObject[];
  /** The Secrets and ConfigMaps that the workloads mount. */
  readonly objects: readonly KubeObject[];
  /** The pool's own configuration, as its operating system has left it; as we describe it, where that is not there. */
  readonly base?: OperatingSystemConfig | undefined;
}

/**
 * The configuration of the machines that carry the control plane: that of their pool, with the static pods of these workloads,
 * what the first kubelet and an administrator come in with, and etcd's own tools. Throws where the Shoot has no pool for a control
 * plane, and NoStaticPodError for a workload that is none.
 */
export function controlPlaneMachines(
  context: ControlPlaneContext,
  { workloads, objects, base }: MachineSources,
): ControlPlaneMachines {
  const { nodes = [], images } = context;
  const config = machineConfigOf(context, controlPlanePool(context), base);
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
    ...(exposureOf(context).by === "none" ? [] : [secretFile(EXPOSED_KUBECONFIG, EXPOSED_ADMIN, "kubeconfig", 0o600)]),
    ...["etcdctl", "etcdutl"].map((tool) => imageFile(`/opt/bin/${tool}`, images.etcd, `/usr/local/bin/${tool}`)),
    ...(storeOf(context) === undefined ? [] : [imageFile("/opt/bin/rclone", images.rclone, "/usr/local/bin/rclone")]),
    ...pods.flatMap((pod) => pod.files),
    ...pods.map(({ manifest }) => manifest),
  ];
  return { config: { ...config, spec: { ...config.spec, files } }, pods };
}

/** The pool whose machines carry the control plane; throws where there is none. */
export function controlPlanePool(context: Pick<ControlPlaneContext, "shoot">): WorkerPool {
  const pool = poolsOf(context).find(({ controlPlane }) => controlPlane !== undefined);
  if (pool !== undefined) return pool;
  const { name } = context.shoot.metadata;
  throw new Error(`Shoot ${name} has no worker pool with controlPlane: add it in spec.provider.workers`);
}

/**
 * What machines of a pool become: as their operating system has left it, else as we describe it; and where they find the API
 * servers.
 */
export function machineConfigOf(
  context: ControlPlaneContext,
  pool: WorkerPool,
  base: OperatingSystemConfig | undefined = operatingSystemConfigs(context, pool)[1],
): OperatingSystemConfig {
  if (base === undefined) throw new Error(`pool ${pool.name} has no configuration of its machines`);
  const { files = [], units = [] } = apiServerNames(context, pool);
  const { spec } = base;
  return {
    ...base,
    spec: { ...spec, files: [...(spec.files ?? []), ...files], units: [...(spec.units ?? []), ...units] },
  };
}
