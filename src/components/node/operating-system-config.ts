import { POOL_LABEL } from "../../api/labels.ts";
import type { OperatingSystemConfig } from "../../api/index.ts";
import type { ControlPlaneContext, WorkerPool } from "../context.ts";
import { kubeletConfiguration } from "./kubelet-config.ts";
import { kubeletUnit } from "./kubelet-unit.ts";
import {
  BOOTSTRAP_TOKEN_SECRET,
  bootstrapKubeconfigPath,
  nodeAgentPath,
  nodeAgentScript,
  nodeAgentUnit,
} from "./node-agent.ts";
import { webhookTarget } from "../workload.ts";
import { machineImage, nodeAgentSecretName } from "./pool.ts";

/** What a pool's machines boot with (`provision`) and what they become (`reconcile`), in this order. */
export function operatingSystemConfigs(context: ControlPlaneContext, pool: WorkerPool): OperatingSystemConfig[] {
  return [provision(context, pool), reconcile(context, pool)];
}

/** The name of a pool's OperatingSystemConfig. */
export function operatingSystemConfigName(context: ControlPlaneContext, pool: WorkerPool, purpose: Purpose): string {
  return `${nodeAgentSecretName(context, pool)}-${purpose === "provision" ? "init" : "original"}`;
}

type Purpose = OperatingSystemConfig["spec"]["purpose"];
type Content = Pick<OperatingSystemConfig["spec"], "files" | "units">;

function provision(context: ControlPlaneContext, pool: WorkerPool): OperatingSystemConfig {
  return describe(context, pool, "provision", {
    files: [
      fileFromSecret(bootstrapKubeconfigPath, BOOTSTRAP_TOKEN_SECRET, "kubeconfig", 0o600),
      file(nodeAgentPath, nodeAgentScript(nodeAgentSecretName(context, pool)), 0o755),
    ],
    units: [nodeAgentUnit],
  });
}

function reconcile(context: ControlPlaneContext, pool: WorkerPool): OperatingSystemConfig {
  const { filePaths, ...unit } = kubeletUnit(context, pool);
  return describe(context, pool, "reconcile", {
    files: [
      file("/var/lib/kubelet/config/kubelet", kubeletConfiguration(context, pool), 0o644),
      fileFromSecret("/var/lib/kubelet/ca.crt", "ca-kubelet", "ca.crt", 0o644),
      fileFromSecret("/var/lib/kubelet/kubeconfig-bootstrap", BOOTSTRAP_TOKEN_SECRET, "kubeconfig", 0o600),
    ],
    units: [{ ...unit, filePaths: [...filePaths] }],
  });
}

function describe(
  context: ControlPlaneContext,
  pool: WorkerPool,
  purpose: Purpose,
  content: Content,
): OperatingSystemConfig {
  const { providerConfig } = pool.machine.image ?? {};
  return {
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "OperatingSystemConfig",
    metadata: {
      name: operatingSystemConfigName(context, pool, purpose),
      namespace: context.namespace,
      labels: { [POOL_LABEL]: pool.name, ...webhookTarget },
    },
    spec: {
      type: machineImage(context, pool).name,
      purpose,
      ...(providerConfig === undefined ? {} : { providerConfig }),
      criConfig: {
        name: pool.cri?.name ?? "containerd",
        cgroupDriver: "systemd",
        containerd: { sandboxImage: context.images.pause },
      },
      ...content,
    },
  };
}

function file(path: string, data: string, permissions: number) {
  return { path, permissions, content: { inline: { encoding: "", data } } };
}

function fileFromSecret(path: string, name: string, dataKey: string, permissions: number) {
  return { path, permissions, content: { secretRef: { name, dataKey } } };
}
