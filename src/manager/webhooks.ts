import {
  createAdmissionServer,
  serveWebhooks as serve,
  webhookConfigurations,
  type WebhookAddress,
} from "../admission/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** Where the garden's webhooks listen, and how its API servers reach them. */
export interface WebhookOptions extends WebhookAddress {
  readonly gardenClient: KubeClient;
  readonly log: Logger;
  /** From one look at the certificate to the next, in ms; a minute unless it is said otherwise. */
  readonly period?: number;
  readonly now?: () => Date;
}

/** Serves the garden's webhooks as `serveWebhooks` of the admission does, with a certificate in Secret `perennial-admission`. */
export async function serveWebhooks({
  gardenClient: client,
  ...o
}: WebhookOptions): Promise<{ stop(): Promise<void> }> {
  const namespace = o.service?.split("/")[0] ?? "perennial";
  return await serve({
    ...{ ...o, client, certificate: { namespace, name: "perennial-admission" } },
    configurations: webhookConfigurations,
    createServer: (server) => createAdmissionServer({ ...server, client }),
  });
}
