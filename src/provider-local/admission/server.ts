import { createWebhookServer, makeServingCertificate, type KubeClient, type Logger } from "../../extension/index.ts";
import { createLocalShootDefaulter, judgeLocalShoot } from "./shoots.ts";

/** The garden, and the address at which its API server reaches this process. */
export interface LocalAdmissionOptions {
  readonly client: KubeClient;
  readonly log: Logger;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

/** Serves the local provider's webhooks, and tells the garden's API server of them; with `stop` they are taken out again. */
export async function serveLocalAdmission({ client, log, host, port }: LocalAdmissionOptions) {
  const { caBundle, ...tls } = await makeServingCertificate([host]);
  const server = createWebhookServer({
    ...{ host, port, tls, log },
    webhooks: { [defaults]: createLocalShootDefaulter({ client }), [validation]: judgeLocalShoot },
  });
  const listening = await server.start();
  const configurations = [
    configuration("Mutating", webhook(`https://${host}:${listening}${defaults}`, caBundle)),
    configuration("Validating", webhook(`https://${host}:${listening}${validation}`, caBundle)),
  ];
  for (const one of configurations) await client.apply(one);
  return {
    async stop(): Promise<void> {
      for (const { apiVersion, kind, metadata } of configurations)
        await client.remove({ apiVersion, kind, ...metadata });
      await server.stop();
    },
  };
}

const defaults = "/default/shoots";
const validation = "/validate/shoots";

const configuration = (how: "Mutating" | "Validating", webhook: object) => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: `${how}WebhookConfiguration`,
  metadata: { name: "provider-local" },
  webhooks: [webhook],
});

/** Only what concerns the provider is asked about: Shoots of its type, whose status and finalizers are no business of it. */
const webhook = (url: string, caBundle: string) => ({
  name: "shoots.provider-local.perennial.dev",
  clientConfig: { url, caBundle: Buffer.from(caBundle).toString("base64") },
  rules: [
    {
      apiGroups: ["core.gardener.cloud"],
      apiVersions: ["*"],
      resources: ["shoots"],
      operations: ["CREATE", "UPDATE"],
      scope: "Namespaced",
    },
  ],
  matchConditions: [{ name: "local", expression: "object.spec.provider.type == 'local'" }],
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  failurePolicy: "Fail",
  timeoutSeconds: 10,
});
