import { POOL_LABEL } from "../../api/labels.ts";
import type { OperatingSystemConfig } from "../../api/index.ts";
import type { ControlPlaneContext, WorkerPool } from "../context.ts";
import { webhookTarget } from "../workload.ts";
import { containerd } from "./containerd.ts";
import type { Part } from "./file.ts";
import { journald } from "./journald.ts";
import { kernelSettings } from "./kernel-settings.ts";
import { kubelet } from "./kubelet.ts";
import { nodeAgent } from "./node-agent.ts";
import { nodeInit } from "./node-init.ts";
import { ownAgent } from "./own-agent.ts";
import { machineImage, nodeAgentSecretName } from "./pool.ts";
import { rootCertificates } from "./root-certificates.ts";
import { allowsLogin, loginUser, sshServer } from "./ssh-access.ts";

/** What a pool's machines boot with (`provision`) and what they become (`reconcile`), in this order. */
export function operatingSystemConfigs(context: ControlPlaneContext, pool: WorkerPool): OperatingSystemConfig[] {
  return [provision(context, pool), reconcile(context, pool)];
}

/** The name of a pool's OperatingSystemConfig. */
export function operatingSystemConfigName(context: ControlPlaneContext, pool: WorkerPool, purpose: Purpose): string {
  return `${nodeAgentSecretName(context, pool)}-${purpose === "provision" ? "init" : "original"}`;
}

type Spec = OperatingSystemConfig["spec"];
type Purpose = Spec["purpose"];

/** The agent's beginning, and the way in for people who look for why a machine does not join. */
function provision(context: ControlPlaneContext, pool: WorkerPool): OperatingSystemConfig {
  const login = allowsLogin(context) ? [loginUser(context), sshServer(context)] : [];
  return describe(context, pool, {
    purpose: "provision",
    criConfig: { name: criName(pool) },
    ...joined([nodeInit(context, pool), ...login]),
  });
}

function reconcile(context: ControlPlaneContext, pool: WorkerPool): OperatingSystemConfig {
  const parts = [
    rootCertificates(context, pool),
    containerd(),
    journald(),
    kernelSettings(context, pool),
    kubelet(context, pool),
    sshServer(context),
    // The machines of a self-hosted Shoot are kept by gardenadm's own.
    context.nodes === undefined ? nodeAgent(context, pool) : ownAgent(context, pool),
    loginUser(context),
  ];
  return describe(context, pool, {
    purpose: "reconcile",
    criConfig: {
      name: criName(pool),
      cgroupDriver: "systemd",
      containerd: { sandboxImage: context.images.pause },
    },
    ...joined(parts),
  });
}

const criName = (pool: WorkerPool): string => pool.cri?.name ?? "containerd";

const joined = (parts: readonly Part[]) => ({
  files: parts.flatMap(({ files = [] }) => files),
  units: parts.flatMap(({ units = [] }) => units),
});

function describe(context: ControlPlaneContext, pool: WorkerPool, spec: Omit<Spec, "type">): OperatingSystemConfig {
  const providerConfig = pool.machine.image?.providerConfig;
  return {
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "OperatingSystemConfig",
    metadata: {
      name: operatingSystemConfigName(context, pool, spec.purpose),
      namespace: context.namespace,
      labels: { [POOL_LABEL]: pool.name, ...webhookTarget },
    },
    spec: {
      type: machineImage(context, pool).name,
      ...(providerConfig === undefined ? {} : { providerConfig }),
      ...spec,
    },
  };
}
