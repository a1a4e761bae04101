import { createWebhookServer, serveWebhooks, type WebhookAddress } from "../admission/index.ts";
import { clusterClassWebhook } from "./optional-infrastructure/class-webhook.ts";
import { clusterStatusWebhook } from "./optional-infrastructure/status-webhook.ts";
import type { ClusterApiDeps } from "./part.ts";
import { pathOf, webhookConfigurations, type ClusterApiWebhook } from "./webhook.ts";

/** All webhooks of this process; every replica serves them. */
export const webhooks: readonly ClusterApiWebhook[] = [clusterStatusWebhook, clusterClassWebhook];

/** What serves the webhooks, and in which namespace of the management cluster their certificate is. */
export interface WebhookOptions extends ClusterApiDeps, WebhookAddress {
  readonly namespace: string;
  readonly webhooks: readonly ClusterApiWebhook[];
}

/** Serves the webhooks and tells the management cluster of them; with a certificate that all replicas share. */
export async function serveAll({ namespace, webhooks: all, ...o }: WebhookOptions): Promise<{ stop(): Promise<void> }> {
  const answers = Object.fromEntries(all.map((webhook) => [pathOf(webhook), webhook.create(o)]));
  return await serveWebhooks({
    ...{ ...o, client: o.management, certificate: { namespace, name: "perennial-cluster-api-admission" } },
    configurations: (address) => webhookConfigurations(all, address),
    createServer: (server) => createWebhookServer({ ...server, webhooks: answers }),
  });
}
