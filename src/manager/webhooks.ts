import { setTimeout as sleep } from "node:timers/promises";
import { createAdmissionServer, webhookConfigurations, type Endpoint } from "../admission/index.ts";
import type { KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";
import { shareCertificate, type SharedCertificate } from "./shared-certificate.ts";

/** Where the webhooks listen, and how API servers reach them. */
export interface WebhookOptions {
  readonly gardenClient: KubeClient;
  readonly log: Logger;
  readonly host: string;
  readonly port: number;
  /** `namespace/name` of the Service in front of the manager; without it, API servers call `host` itself. */
  readonly service?: string;
  /** PEM: callers show a certificate that this authority has signed; without it, every caller is answered. */
  readonly clientCa?: string;
  /** From one look at the certificate to the next, in ms; a minute unless it is said otherwise. */
  readonly period?: number;
  readonly now?: () => Date;
}

/**
 * Serves the garden's webhooks, and only then tells the API server of them; a configuration that another client
 * changes or deletes is put back. All replicas serve the same certificate, from
 * a Secret, and follow it: the API server hears of a new one before any replica serves it, and takes the old one from
 * those that have not seen the new one yet.
 */
export async function serveWebhooks(o: WebhookOptions): Promise<{ stop(): Promise<void> }> {
  const { gardenClient, log, host, port, service, clientCa, period = 60_000, now = () => new Date() } = o;
  const [namespace = "perennial", name] = service?.split("/") ?? [];
  const hosts = name === undefined ? [host] : [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`];
  const share = () => shareCertificate(gardenClient, { namespace, hosts }, now());
  let served = await share();
  const server = createAdmissionServer({
    ...{ client: gardenClient, log, host, port, tls: served },
    ...(clientCa === undefined ? {} : { clientCa }),
  });
  if (clientCa === undefined)
    log.warn({ host, port }, "webhooks answer every caller: PERENNIAL_WEBHOOK_CLIENT_CA_FILE is not set");
  const listening = await server.start();
  const endpoint: Endpoint =
    name === undefined ? { url: `https://${host}:${listening}` } : { service: { namespace, name } };
  const announce = async ({ caBundle }: SharedCertificate) => {
    for (const configuration of webhookConfigurations({ caBundle, ...endpoint }))
      await gardenClient.apply(configuration);
  };
  await announce(served);

  const follow = async () => {
    const found = await share();
    await announce(found); // every time: without a configuration, Shoots go unjudged
    if (found.cert === served.cert) return;
    server.renew(found);
    served = found;
    log.info({ hosts }, "certificate of the webhooks renewed");
  };
  const stopping = new AbortController();
  const following = repeat(period, stopping.signal, () =>
    follow().catch((error: unknown) => log.warn({ err: error }, "cannot follow the certificate of the webhooks")),
  );
  return {
    async stop() {
      stopping.abort();
      await following;
      await server.stop();
    },
  };
}

async function repeat(period: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  for (;;) {
    await sleep(period, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    await work();
  }
}
