import type { KubeObject } from "../../api/index.ts";
import { destinationLabel, serviceAccessLabel } from "../../api/labels.ts";
import { SHOOT_KUBECONFIG_FOLDER } from "../../api/names.ts";
import type { ControlPlaneContext } from "../context.ts";
import {
  controlPlaneLabels,
  controlPlaneRole,
  leavesLastWords,
  priorityClass,
  restricted,
  unprivilegedPod,
  webhookTarget,
} from "../workload.ts";

/** What acts on machines: a program of upstream's, with rights of its own in the seed and in the Shoot. */
export interface MachineProgram {
  /** Name of its Deployment, of its account, and of the Secret with its kubeconfig for the Shoot. */
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly replicas: number;
  readonly metricsPort: number;
  /** Its pods call the provider's API, wherever that is. */
  readonly callsProvider: boolean;
  readonly memory: string;
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly livenessProbe?: object;
}

/** Cluster role, from deploy/seed/worker-rbac.yaml, of what such a program does in the Shoot's namespace. */
const roleOf = (program: string): string => `perennial:${program}`;

/**
 * Its account, what binds the account's role, its disruption budget and its Deployment. A provider's webhook finds the
 * Deployment by name and label, and may add a container; that one mounts the volume `kubeconfig` where upstream has it.
 */
export function machineProgramObjects(context: ControlPlaneContext, program: MachineProgram): KubeObject[] {
  const { namespace } = context;
  const { name } = program;
  const labels = controlPlaneLabels(name);
  const metadata = { name, namespace, labels: { ...labels, ...controlPlaneRole } };
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata, automountServiceAccountToken: false },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: roleOf(name) },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
    {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata,
      spec: { maxUnavailable: 1, selector: { matchLabels: labels }, unhealthyPodEvictionPolicy: "AlwaysAllow" },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { ...metadata, labels: { ...metadata.labels, ...webhookTarget } },
      spec: deploymentOf(context, program),
    },
  ];
}

function deploymentOf({ checksums }: ControlPlaneContext, program: MachineProgram) {
  const { name, replicas, callsProvider } = program;
  const labels = controlPlaneLabels(name);
  const checksum = checksums[name];
  return {
    replicas,
    revisionHistoryLimit: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: {
        labels: { ...labels, ...controlPlaneRole, ...reach, ...(callsProvider ? reachProvider : {}) },
        annotations: checksum === undefined ? {} : { [`checksum/secret-${name}`]: checksum },
      },
      spec: {
        ...unprivilegedPod,
        automountServiceAccountToken: true,
        serviceAccountName: name,
        priorityClassName: priorityClass.second,
        terminationGracePeriodSeconds: 5,
        containers: [containerOf(program)],
        volumes: [kubeconfigVolume(name)],
      },
    },
  };
}

function containerOf({ name, image, command, metricsPort, memory, env, livenessProbe }: MachineProgram) {
  return {
    name,
    image,
    imagePullPolicy: "IfNotPresent",
    command,
    ...(env === undefined ? {} : { env }),
    ports: [{ name: "metrics", containerPort: metricsPort, protocol: "TCP" }],
    ...(livenessProbe === undefined ? {} : { livenessProbe }),
    resources: { requests: { cpu: "10m", memory } },
    securityContext: restricted(),
    ...leavesLastWords,
    volumeMounts: [{ name: "kubeconfig", mountPath: SHOOT_KUBECONFIG_FOLDER, readOnly: true }],
  };
}

/** Upstream's volume of that name holds a token; ours a client certificate, in the same file. */
function kubeconfigVolume(secretName: string) {
  const items = [{ key: "kubeconfig", path: "kubeconfig" }];
  return { name: "kubeconfig", secret: { secretName, defaultMode: 0o440, items } };
}

/** What the policies of a Shoot's namespace let it reach: the seed's API server and the Shoot's. */
const reach = {
  [destinationLabel("to-runtime-apiserver")]: "allowed",
  [serviceAccessLabel("to-kube-apiserver-tcp-443")]: "allowed",
};

const reachProvider = {
  [destinationLabel("to-public-networks")]: "allowed",
  [destinationLabel("to-private-networks")]: "allowed",
};
