import { createExtensionController } from "../extension/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import { createDnsRecordActuator } from "./dns/record.ts";
import type { Provider } from "./provider.ts";

/**
 * What the garden asks of a DNS provider: the records that say which seed leads a Shoot. Their Secrets name server and
 * key. No guard stands before it, because it is what the guards of the seeds rely on; the server compares and swaps.
 */
export function createGardenProvider({ client, log }: { client: KubeClient; log: Logger }): Provider {
  const kind = { kind: "DNSRecord", type: "rfc2136", class: "garden" } as const;
  const controller = createExtensionController({ client, log, ...kind, actuator: createDnsRecordActuator() });
  return {
    async start() {
      controller.start();
      await controller.synced();
    },
    stop: () => controller.stop(),
  };
}
