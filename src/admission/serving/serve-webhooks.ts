import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject } from "../../api/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import type { WebhookServer, WebhookServerOptions } from "../server.ts";
import type { Endpoint } from "./endpoint.ts";
import { shareCertificate, type SharedCertificate } from "./shared-certificate.ts";

/** Where webhooks listen, and how the API servers of one cluster reach them. */
export interface WebhookAddress {
  readonly host: string;
  readonly port: number;
  /** `namespace/name` of the Service in front of the process; without it, API servers call `host` itself. */
  readonly service?: string;
  /** PEM: callers show a certificate that this authority has signed; without it, every caller is answered. */
  readonly clientCa?: string;
}

/** The webhooks of one kind of process, and the cluster whose API servers ask them. */
export interface WebhookService extends WebhookAddress {
  readonly client: KubeClient;
  readonly log: Logger;
  /** The Secret in which the replicas keep their certificate. */
  readonly certificate: { readonly namespace: string; readonly name: string };
  /** The objects that tell API servers of the webhooks. */
  configurations(o: { readonly caBundle: string } & Endpoint): readonly KubeObject[];
  createServer(o: Omit<WebhookServerOptions, "webhooks">): WebhookServer;
  /** From one look at the certificate to the next, in ms; a minute unless it is said otherwise. */
  readonly period?: number;
  readonly now?: () => Date;
}

/**
 * Serves webhooks, and only then tells the API servers of them; a configuration that another client
 * changes or deletes is put back. All replicas serve the same certificate, from
 * a Secret, and follow it: API servers hear of a new one before any replica serves it, and take the old one from
 * those that have not seen the new one yet.
 */
export async function serveWebhooks(o: WebhookService): Promise<{ stop(): Promise<void> }> {
  const { client, log, host, port, service, clientCa, period = 60_000, now = () => new Date() } = o;
  const [namespace = "", name] = service?.split("/") ?? [];
  const hosts = name === undefined ? [host] : [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`];
  const share = () => shareCertificate(client, { ...o.certificate, hosts }, now());
  let served = await share();
  const server = o.createServer({ log, host, port, tls: served, ...(clientCa === undefined ? {} : { clientCa }) });
  if (clientCa === undefined)
    log.warn({ host, port }, "webhooks answer every caller: PERENNIAL_WEBHOOK_CLIENT_CA_FILE is not set");
  const listening = await server.start();
  const endpoint: Endpoint =
    name === undefined ? { url: `https://${host}:${listening}` } : { service: { namespace, name } };
  const announce = async ({ caBundle }: SharedCertificate) => {
    for (const configuration of o.configurations({ caBundle, ...endpoint })) await client.apply(configuration);
  };
  await announce(served);

  const follow = async () => {
    const found = await share();
    await announce(found); // every time: without a configuration, objects go unjudged
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
