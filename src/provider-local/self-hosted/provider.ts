import {
  createExtensionController,
  type ExtensionControllerOptions,
  type ExtensionKind,
  type KubeClient,
  type Logger,
} from "../../extension/index.ts";
import { createControlPlaneActuator } from "../control-plane.ts";
import { createDnsRecordActuator } from "../dns/record.ts";
import type { Additions } from "../machine-image/kubelet.ts";
import { createOperatingSystemConfigActuator } from "../machine-image/operating-system-config.ts";
import type { AgentImage } from "../network-agent/objects.ts";
import type { Provider } from "../provider.ts";
import { createExposureActuator } from "./exposure.ts";
import { createAgentNetworkActuator } from "./network.ts";

/** The cluster that the provider runs in, and the image of this program. */
export interface SelfHostedProviderDeps {
  readonly client: KubeClient;
  readonly image: AgentImage;
  readonly log: Logger;
}

/**
 * What a cluster that carries its own control plane asks of a cloud, without any help of what is below its machines: a network
 * of its pods, its name at a DNS server that takes signed updates, and the kinds for which there is nothing to do. No guard stands
 * before it: only this cluster leads it.
 */
export function createSelfHostedProvider({ client, image, log }: SelfHostedProviderDeps): Provider {
  const extension = <K extends ExtensionKind>(options: Options<K>) =>
    createExtensionController<K>({ client, log, type: "local", ...options });
  const parts = [
    extension({ kind: "Network", actuator: createAgentNetworkActuator(image) }),
    extension({ kind: "ControlPlane", actuator: createControlPlaneActuator({}) }),
    extension({ kind: "OperatingSystemConfig", actuator: createOperatingSystemConfigActuator(noAdditions) }),
    extension({ kind: "SelfHostedShootExposure", actuator: createExposureActuator() }),
    extension({ kind: "DNSRecord", type: "rfc2136", actuator: createDnsRecordActuator() }),
  ];
  return {
    async start() {
      for (const part of parts) part.start();
      await Promise.all(parts.map((part) => part.synced()));
    },
    stop: async () => void (await Promise.all(parts.map((part) => part.stop()))),
  };
}

type Options<K extends ExtensionKind> = Pick<ExtensionControllerOptions<K>, "kind" | "actuator"> & {
  readonly type?: string;
};

/** These machines run a real systemd, and what is odd about their host they say themselves. */
const noAdditions = (): Additions => ({ extensionFiles: [], extensionUnits: [] });
