import type { Raw, Worker } from "../../api/index.ts";
import { poolsOf, type ControlPlaneContext, type WorkerPool } from "../context.ts";
import { cloudProviderSecretRef } from "../extension-objects.ts";
import { architecture, kubernetesVersion, machineImage, nodeAgentSecretName, nodeLabels } from "./pool.ts";

/** The results of other extensions that machines are made from. */
export interface WorkerInputs {
  readonly infrastructureProviderStatus?: Raw;
  /** By pool: the Secret and key with what its machines boot with, from the status of its OperatingSystemConfig. */
  readonly userData: Readonly<Record<string, { readonly name: string; readonly key: string }>>;
}

/** The Shoot's machines, in pools; throws if a pool's user data is not there yet. */
export function workerObject(context: ControlPlaneContext, inputs: WorkerInputs): Worker {
  const { infrastructureProviderStatus, userData } = inputs;
  const { metadata, spec } = context.shoot;
  return {
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Worker",
    metadata: { name: metadata.name, namespace: context.namespace },
    spec: {
      type: spec.provider.type,
      region: spec.region,
      secretRef: cloudProviderSecretRef(context),
      ...(infrastructureProviderStatus ? { infrastructureProviderStatus } : {}),
      pools: poolsOf(context).map((pool) => {
        const userDataSecretRef = userData[pool.name];
        if (userDataSecretRef) return describePool(context, pool, userDataSecretRef);
        throw new Error(
          `cannot describe Worker ${context.namespace}/${metadata.name}: pool ${pool.name} has no user data yet`,
        );
      }),
    },
  };
}

type Pool = Worker["spec"]["pools"][number];

function describePool(
  context: ControlPlaneContext,
  pool: WorkerPool,
  userDataSecretRef: Pool["userDataSecretRef"],
): Pool {
  const machineType = context.cloudProfile.spec.machineTypes.find(({ name }) => name === pool.machine.type);
  return {
    name: pool.name,
    minimum: pool.minimum,
    maximum: pool.maximum,
    maxSurge: pool.maxSurge ?? 1,
    maxUnavailable: pool.maxUnavailable ?? 0,
    machineType: pool.machine.type,
    machineImage: machineImage(context, pool),
    architecture: architecture(context, pool),
    kubernetesVersion: kubernetesVersion(context, pool),
    nodeAgentSecretName: nodeAgentSecretName(context, pool),
    userDataSecretRef,
    labels: nodeLabels(context, pool),
    ...(machineType ? { nodeTemplate: { capacity: capacity(machineType) } } : {}),
    ...asGiven(pool),
    ...clusterAutoscaler(pool),
    ...kubeletConfig(context, pool),
  };
}

function capacity({
  cpu,
  memory,
  gpu,
}: {
  cpu: string | number;
  memory: string | number;
  gpu?: string | number | undefined;
}) {
  return { cpu, memory, gpu: gpu ?? "0" };
}

const sameInBoth = [
  "annotations",
  "taints",
  "providerConfig",
  "volume",
  "dataVolumes",
  "kubeletDataVolumeName",
  "zones",
  "machineControllerManager",
  "priority",
  "updateStrategy",
] as const;

function asGiven(pool: WorkerPool): Partial<Pool> {
  return Object.fromEntries(sameInBoth.flatMap((field) => (pool[field] === undefined ? [] : [[field, pool[field]]])));
}

/** Fractions are numbers in a Shoot and texts in a Worker. */
function clusterAutoscaler({ clusterAutoscaler: options }: WorkerPool): Partial<Pool> {
  if (options === undefined) return {};
  return {
    clusterAutoscaler: Object.fromEntries(Object.entries(options).map(([name, value]) => [name, String(value)])),
  };
}

function kubeletConfig({ shoot }: ControlPlaneContext, pool: WorkerPool): Partial<Pool> {
  const config = pool.kubernetes?.kubelet ?? shoot.spec.kubernetes.kubelet;
  return config === undefined ? {} : { kubeletConfig: config };
}
