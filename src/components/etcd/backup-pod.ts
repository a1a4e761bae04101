import type { KubeObject } from "../../api/index.ts";
import type { ControlPlaneContext } from "../context.ts";
import { controlPlanePod, controlPlaneRole, leavesLastWords, restricted } from "../workload.ts";

/** One thing that a pod does before the next: a container of this name, with what it sees. */
export interface Step {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly volumeMounts: readonly object[];
  readonly env?: readonly object[];
}

/**
 * Steps run one after the other, each once the one before has succeeded; those `beside` run with the last one. The pod has
 * succeeded when they all have.
 */
export function pod(volumes: readonly object[], steps: readonly Step[], beside: readonly Step[] = []) {
  const containers = steps.map(container);
  return {
    metadata: { labels: podLabels },
    spec: {
      ...controlPlanePod,
      restartPolicy: "Never",
      initContainers: containers.slice(0, -1),
      containers: [...containers.slice(-1), ...beside.map(container)],
      volumes,
    },
  };
}

/** A Job in the Shoot's namespace. A pod that is being ended still writes: the next one begins when it is gone. */
export function job(
  { namespace }: ControlPlaneContext,
  name: string,
  spec: object,
  labels: Record<string, string> = {},
): KubeObject {
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name, namespace, labels: { ...podLabels, ...labels } },
    spec: { ...spec, podReplacementPolicy: "Failed" },
  };
}

const podLabels = { app: "etcd-backup", ...controlPlaneRole };

function container({ name, image, command, volumeMounts, env }: Step) {
  return {
    name,
    image,
    imagePullPolicy: "IfNotPresent",
    command,
    resources: { requests: { cpu: "10m", memory: "32Mi" } },
    securityContext: restricted(),
    ...leavesLastWords,
    volumeMounts,
    ...(env === undefined ? {} : { env }),
  };
}
