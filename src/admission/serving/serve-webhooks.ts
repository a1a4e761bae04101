import type { KubeObject } from "../../api/index.ts";
import { createController, createReflector, Secret, type KubeClient } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import type { WebhookServer, WebhookServerOptions } from "../server.ts";
import type { Endpoint } from "./endpoint.ts";
import { createAnnouncer } from "./announcer.ts";
import { certificateIn, isFit, shareCertificate, type SharedCertificate } from "./shared-certificate.ts";

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
  /**
   * In ms, a minute unless it is said otherwise: from one look at the age of the certificate to the next, and the least between two
   * writes of configurations.
   */
  readonly period?: number;
  readonly now?: () => Date;
}

/**
 * Serves webhooks, and only then tells the API servers of them; a configuration that another client
 * changes or deletes is put back. Watches tell of that: nothing is asked while nothing happens. All replicas serve the same certificate, from
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
  const configurations = ({ caBundle }: SharedCertificate) => o.configurations({ caBundle, ...endpoint });
  const announcer = createAnnouncer(client, configurations(served), { log, onChange: () => tell() });
  await announcer.announce(configurations(served));

  const follow = async () => {
    const found = await share();
    await announcer.announce(configurations(found)); // without a configuration, objects go unjudged
    if (found.cert === served.cert) return;
    server.renew(found);
    served = found;
    log.info({ hosts }, "certificate of the webhooks renewed");
  };

  let hasNews = false;
  let next = 0;
  const controller = createController({
    ...{ name: "webhooks", log, concurrency: 1, longestDelay: period },
    async reconcile() {
      if (!hasNews && isFit(served.cert, hosts, now())) return { requeueAfter: period };
      const early = next - performance.now();
      if (early > 0) return { requeueAfter: early };
      next = performance.now() + period;
      hasNews = false;
      await follow().catch((error: unknown) => {
        hasNews = true;
        throw error;
      });
      return { requeueAfter: period };
    },
  });
  const tell = () => {
    hasNews = true;
    controller.enqueue(o.certificate);
  };
  const secret = createReflector(client, Secret, {
    ...{ log, namespace: o.certificate.namespace, fieldSelector: `metadata.name=${o.certificate.name}` },
    onEvent({ type, object }) {
      if (type === "deleted" || !isSame(certificateIn(object), served)) tell();
    },
  });

  controller.enqueue(o.certificate);
  controller.start();
  secret.start();
  announcer.start();
  return {
    async stop() {
      await Promise.all([announcer.stop(), secret.stop()]);
      await controller.stop();
      await server.stop();
    },
  };
}

const isSame = (one: SharedCertificate | undefined, other: SharedCertificate): boolean =>
  one?.cert === other.cert && one.caBundle === other.caBundle;
