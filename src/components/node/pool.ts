import { createHash } from "node:crypto";
import {
  CONTROL_PLANE_LABEL,
  FORMER_POOL_LABEL,
  NODE_LOCAL_DNS_LABEL,
  POOL_AGENT_SECRET_LABEL,
  POOL_CRI_LABEL,
  POOL_IMAGE_NAME_LABEL,
  POOL_IMAGE_VERSION_LABEL,
  POOL_KUBERNETES_VERSION_LABEL,
  POOL_LABEL,
  POOL_SYSTEM_COMPONENTS_LABEL,
  runtimeLabel,
} from "../../api/labels.ts";
import type { ControlPlaneContext, WorkerPool } from "../context.ts";

/**
 * The pool's key: names its OperatingSystemConfigs, and the Secret in the Shoot that its machines read. It changes
 * exactly when the machines have to be replaced, so that old machines keep the configuration they were made for; providers
 * of others take it for just that. It is made as Gardener makes it, of the same facts.
 */
export function nodeAgentSecretName(context: ControlPlaneContext, pool: WorkerPool): string {
  const { name, version } = machineImage(context, pool);
  const [major, minor] = kubernetesVersion(context, pool).split(".");
  const facts = [
    `${major}.${minor}`,
    pool.machine.type,
    `${name}${version}`,
    ...[pool.volume?.size, pool.volume?.type].filter((fact) => fact !== undefined),
    pool.cri?.name ?? "containerd",
    ...kubeletFacts(context, pool),
  ];
  return `gardener-node-agent-${pool.name}-${sha256(facts.map(sha256).join("")).slice(0, 16)}`;
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** What of the kubelet's configuration is not changed under running pods. */
function kubeletFacts({ shoot }: ControlPlaneContext, pool: WorkerPool): string[] {
  const { kubeReserved, evictionHard, cpuManagerPolicy } =
    pool.kubernetes?.kubelet ?? shoot.spec.kubernetes.kubelet ?? {};
  const reserved = kubeReserved && reservations.map((name) => kubeReserved[name] ?? "<nil>").join("-");
  const eviction = evictionHard && thresholds.map((name) => evictionHard[name] ?? "").join("-");
  return [reserved, eviction, cpuManagerPolicy].filter((fact) => fact !== undefined);
}

const reservations = ["cpu", "memory", "pid", "ephemeralStorage"] as const;

const thresholds = [
  "imageFSAvailable",
  "imageFSInodesFree",
  "memoryAvailable",
  "nodeFSAvailable",
  "nodeFSInodesFree",
] as const;

/** The Kubernetes version of the pool's machines. */
export function kubernetesVersion({ shoot }: ControlPlaneContext, pool: WorkerPool): string {
  return pool.kubernetes?.version ?? shoot.spec.kubernetes.version;
}

/** The image of the pool's machines: as the user says, else the cloud profile's first, in its newest version. */
export function machineImage(
  { cloudProfile }: ControlPlaneContext,
  pool: WorkerPool,
): { name: string; version: string } {
  const offered = cloudProfile.spec.machineImages;
  const name = pool.machine.image?.name ?? offered[0]?.name ?? "";
  const versions = offered.find((image) => image.name === name)?.versions ?? [];
  return {
    name,
    version: pool.machine.image?.version ?? versions.map(({ version }) => version).toSorted(newestFirst)[0] ?? "",
  };
}

/** The processor architecture of the pool's machines. */
export function architecture({ cloudProfile }: ControlPlaneContext, pool: WorkerPool): string {
  const machineType = cloudProfile.spec.machineTypes.find(({ name }) => name === pool.machine.type);
  return pool.machine.architecture ?? machineType?.architecture ?? "amd64";
}

/** Labels of the pool's nodes: what Gardener says about the pool, and what the user asks for. */
export function nodeLabels(context: ControlPlaneContext, pool: WorkerPool): Record<string, string> {
  return {
    ...pool.labels,
    "node.kubernetes.io/role": "node",
    "kubernetes.io/arch": architecture(context, pool),
    [NODE_LOCAL_DNS_LABEL]: "false",
    ...poolLabels(pool),
    [POOL_IMAGE_NAME_LABEL]: machineImage(context, pool).name,
    [POOL_IMAGE_VERSION_LABEL]: machineImage(context, pool).version,
    [POOL_CRI_LABEL]: pool.cri?.name ?? "containerd",
    ...runtimeLabels(pool),
    [POOL_SYSTEM_COMPONENTS_LABEL]: String(pool.systemComponents?.allow ?? true),
    [POOL_KUBERNETES_VERSION_LABEL]: kubernetesVersion(context, pool),
    [POOL_AGENT_SECRET_LABEL]: nodeAgentSecretName(context, pool),
  };
}

/** What a pool's nodes keep away from them: nodes of a control plane, all that does not belong to it. */
export function taintsOf({ taints = [], controlPlane }: WorkerPool): NonNullable<WorkerPool["taints"]> {
  if (controlPlane === undefined) return taints;
  const own = { key: CONTROL_PLANE_LABEL, effect: "NoSchedule" };
  return [own, ...taints.filter(({ key, effect }) => key !== own.key || effect !== own.effect)];
}

/** The labels by which extensions find a pool's nodes: today's and the one before. */
export const poolLabels = ({ name }: Pick<WorkerPool, "name">): Record<string, string> => ({
  [POOL_LABEL]: name,
  [FORMER_POOL_LABEL]: name,
});

/** The labels by which the RuntimeClass of a container runtime finds the nodes that have it. */
const runtimeLabels = ({ cri }: WorkerPool): Record<string, string> =>
  Object.fromEntries((cri?.containerRuntimes ?? []).map(({ type }) => [runtimeLabel(type), "true"]));

function newestFirst(a: string, b: string): number {
  return b.localeCompare(a, "en", { numeric: true });
}
