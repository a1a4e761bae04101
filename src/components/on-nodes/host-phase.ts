import type { KubeObject } from "../../api/index.ts";

/** A pod's spec, as far as it says where the pod lives. */
interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly tolerations?: readonly object[];
  readonly [field: string]: unknown;
}

interface Container {
  readonly env?: readonly { readonly name: string }[];
  readonly ports?: readonly { readonly containerPort: number; readonly hostPort?: number }[];
  readonly [field: string]: unknown;
}

/**
 * A Deployment or StatefulSet as it runs on the first node of a control plane before there is a pod network: one pod, on the
 * host's network, which finds the API server beside itself and the names that the host finds. All else stays as it is.
 */
export function inHostNetwork<T extends KubeObject>(object: T): T {
  if (object.kind !== "Deployment" && object.kind !== "StatefulSet") return object;
  const { template, ...spec } = object["spec"] as WorkloadSpec;
  const strategy = object.kind === "Deployment" ? strategyOf(spec) : {};
  const pods = { ...template, spec: podInHostNetwork(template.spec) };
  return { ...object, spec: { ...spec, replicas: 1, ...strategy, template: pods } };
}

/**
 * Where a cluster was restored, the workload is there already, and rolls: an apply cannot change that to Recreate, whose fields exclude
 * those that the API server has filled in. So the old pod goes first.
 */
function strategyOf({ strategy }: Pick<WorkloadSpec, "strategy">): { readonly strategy?: object } {
  if (strategy?.type === "Recreate") return {};
  return { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } };
}

interface WorkloadSpec {
  readonly strategy?: { readonly type?: string };
  readonly template: { readonly spec: PodSpec };
}

function podInHostNetwork({ initContainers, containers, ...spec }: PodSpec): PodSpec {
  return {
    ...spec,
    hostNetwork: true,
    dnsPolicy: "Default",
    tolerations: [{ operator: "Exists" }],
    ...(initContainers && { initContainers: initContainers.map(besideTheApiServer) }),
    containers: containers.map(besideTheApiServer),
  };
}

/** Two pods of a host may not have one port, and ports that containers declare are only words to others, who do not find these pods by them. */
function besideTheApiServer({ env = [], ports, ...container }: Container): Container {
  const others = env.filter(({ name }) => !API_SERVER.some((own) => own.name === name));
  const named = ports?.map(({ hostPort: _, ...port }) => port);
  return { ...container, ...(named && { ports: named }), env: [...others, ...API_SERVER] };
}

/** Where programs in pods look for their API server. */
const API_SERVER = [
  { name: "KUBERNETES_SERVICE_HOST", value: "localhost" },
  { name: "KUBERNETES_SERVICE_PORT", value: "443" },
];
