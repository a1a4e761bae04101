import { createExtensionController } from "../extension/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import { serveLocalAdmission } from "./admission/server.ts";
import { createDnsRecordActuator } from "./dns/record.ts";
import type { Provider } from "./provider.ts";

/**
 * What the garden asks of a DNS provider: the records that say which seed leads a Shoot. Their Secrets name server and
 * key. No guard stands before it, because it is what the guards of the seeds rely on; the server compares and swaps.
 */
export function createGardenProvider({ client, log, host }: GardenProviderDeps): Provider {
  const kind = { kind: "DNSRecord", type: "rfc2136", class: "garden" } as const;
  const controller = createExtensionController({ client, log, ...kind, actuator: createDnsRecordActuator() });
  let admission: { stop(): Promise<void> } | undefined;
  return {
    async start() {
      controller.start();
      await controller.synced();
      if (host !== undefined) admission = await serveLocalAdmission({ client, log, host, port: 0 });
    },
    async stop() {
      await admission?.stop();
      await controller.stop();
    },
  };
}

/** The garden, and the address at which it reaches this process; without one, no webhooks are served. */
export interface GardenProviderDeps {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly host?: string;
}
