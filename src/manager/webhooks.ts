import { X509Certificate } from "node:crypto";
import {
  createAdmissionServer,
  makeServingCertificate,
  webhookConfigurations,
  type Endpoint,
} from "../admission/index.ts";
import { isAlreadyExists, refTo, Secret, typeMeta, type KubeClient } from "../kube/index.ts";
import type { Logger } from "../log.ts";

/** Where the webhooks listen, and how API servers reach them. */
export interface WebhookOptions {
  readonly gardenClient: KubeClient;
  readonly log: Logger;
  readonly host: string;
  readonly port: number;
  /** `namespace/name` of the Service in front of the manager; without it, API servers call `host` itself. */
  readonly service?: string;
}

/**
 * Serves the garden's webhooks, and only then tells the API server of them. All replicas serve the same certificate,
 * from a Secret that the first of them makes.
 */
export async function serveWebhooks({
  gardenClient,
  log,
  host,
  port,
  service,
}: WebhookOptions): Promise<{ stop(): Promise<void> }> {
  const [namespace = "perennial", name] = service?.split("/") ?? [];
  const hosts = name === undefined ? [host] : [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`];
  const tls = await shareCertificate(gardenClient, namespace, hosts);
  const server = createAdmissionServer({ client: gardenClient, log, host, port, tls });
  const served = await server.start();
  const endpoint: Endpoint =
    name === undefined ? { url: `https://${host}:${served}` } : { service: { namespace, name } };
  for (const configuration of webhookConfigurations({ caBundle: tls.cert, ...endpoint }))
    await gardenClient.apply(configuration);
  return server;
}

/** The certificate in Secret `perennial-admission`, if it is for these hosts and has a month to live; else a new one. */
async function shareCertificate(gardenClient: KubeClient, namespace: string, hosts: readonly string[]) {
  const ref = refTo(Secret, { namespace, name: "perennial-admission" });
  const present = certificateIn(await gardenClient.read(ref));
  if (present && isFit(present.cert, hosts)) return present;
  if (present) await gardenClient.remove(ref);
  const made = await makeServingCertificate(hosts);
  try {
    await gardenClient.create({
      ...typeMeta(Secret),
      metadata: { name: ref.name, namespace },
      type: "kubernetes.io/tls",
      data: { "tls.crt": encode(made.cert), "tls.key": encode(made.key) },
    });
    return made;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const others = certificateIn(await gardenClient.read(ref));
    if (others === undefined)
      throw new Error(`Secret ${namespace}/perennial-admission has no certificate`, { cause: error });
    return others;
  }
}

function certificateIn(secret: Secret | undefined): { cert: string; key: string } | undefined {
  const { "tls.crt": cert, "tls.key": key } = secret?.data ?? {};
  return cert === undefined || key === undefined ? undefined : { cert: decode(cert), key: decode(key) };
}

const MONTH = 30 * 24 * 3_600_000;

function isFit(pem: string, hosts: readonly string[]): boolean {
  const certificate = new X509Certificate(pem);
  const named = hosts.every((host) => certificate.checkHost(host) ?? certificate.checkIP(host));
  return named && Date.parse(certificate.validTo) - Date.now() > MONTH;
}

const encode = (text: string): string => Buffer.from(text).toString("base64");
const decode = (base64: string): string => Buffer.from(base64, "base64").toString();
