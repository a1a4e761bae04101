import { issueAuthority, issueCertificate } from "../../src/activities/secrets/pki.ts";
import { createWebhookServer } from "../../src/admission/server.ts";
import type { KubeObject } from "../../src/api/index.ts";
import { createLogger } from "../../src/log.ts";

/** A webhook that an operator runs: it changes what API servers are started with. */
export interface FlagWebhook {
  /** What registers it. */
  readonly object: KubeObject;
  stop(): Promise<void>;
}

/** Serves at this address of the host a webhook that gives container `kube-apiserver` of the Deployment of that name this flag. */
export async function startFlagWebhook(host: string, flag: string): Promise<FlagWebhook> {
  const now = new Date();
  const authority = await issueAuthority("flag-webhook", now);
  const request = { commonName: "flag-webhook", hosts: [host], usages: ["server"] as const };
  const { certificate: cert, key } = await issueCertificate(authority, request, now);
  const log = createLogger({ name: "flag-webhook", level: "warn" });
  const server = createWebhookServer({
    ...{ host, port: 0, tls: { cert, key }, log },
    webhooks: {
      "/mutate": async ({ object }) => await Promise.resolve({ allowed: true, patch: patchOf(object, flag) }),
    },
  });
  const url = `https://${host}:${await server.start()}/mutate`;
  const caBundle = Buffer.from(authority.certificate).toString("base64");
  return { object: registration({ url, caBundle }), stop: async () => await server.stop() };
}

interface Workload extends KubeObject {
  readonly spec?: {
    readonly template?: {
      readonly spec?: {
        readonly containers?: readonly { readonly name: string; readonly command?: readonly string[] }[];
      };
    };
  };
}

function patchOf(object: Workload | undefined, value: string) {
  const containers = object?.spec?.template?.spec?.containers ?? [];
  const index = containers.findIndex(({ name }) => name === "kube-apiserver");
  if (containers[index]?.command?.includes(value) !== false) return [];
  return [{ op: "add" as const, path: `/spec/template/spec/containers/${index}/command/-`, value }];
}

const name = "flags.example.org";

const registration = (clientConfig: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingWebhookConfiguration",
  metadata: { name },
  webhooks: [
    {
      ...{ name, clientConfig, failurePolicy: "Fail", sideEffects: "None", admissionReviewVersions: ["v1"] },
      objectSelector: { matchLabels: { role: "apiserver" } },
      rules: [
        { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: ["deployments"] },
      ],
    },
  ],
});
