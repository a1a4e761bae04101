import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { issueAuthority, issueCertificate } from "../../src/activities/secrets/pki.ts";
import type { KubeObject } from "../../src/api/schema/meta.ts";

/** What extends a Shoot's API from one of its nodes: a webhook for ConfigMaps, and an aggregated API. */
export interface ShootExtender {
  /** What registers it, in the Shoot. */
  readonly objects: readonly KubeObject[];
  stop(): Promise<void>;
}

/** The group that it serves. */
export const EXTENDED_GROUP = "hidden.example.org";

const port = 8444;
const host = "extender.app.svc";
const metadata = { name: "extender", namespace: "app" };

/**
 * Starts it at an address of this host, or of a machine whose network namespace is given: as a pod with the node's network, it is
 * behind a Service without a selector, in namespace `app`.
 */
export async function extendShoot(address: string, netns?: string): Promise<ShootExtender> {
  const now = new Date();
  const authority = await issueAuthority("extender", now);
  const pair = await issueCertificate(authority, { commonName: host, hosts: [host], usages: ["server"] }, now);
  const folder = await mkdtemp(join(tmpdir(), "extender-"));
  const server = join(folder, "server.mjs");
  await writeFile(server, program(pair));
  const enter = netns === undefined ? [] : ["nsenter", `--net=/run/netns/${netns}`, "--"];
  const [command = process.execPath, ...args] = [...enter, process.execPath, server];
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  await listening(child);
  return {
    objects: objects(address, Buffer.from(authority.certificate).toString("base64")),
    async stop() {
      child.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function listening(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.stdout?.once("data", () => resolve());
    child.once("exit", (code) => reject(new Error(`what extends the Shoot ended with ${code}`)));
  });
}

/** Marks each ConfigMap that it is asked about, and serves a group without kinds. */
function program({ certificate, key }: { readonly certificate: string; readonly key: string }): string {
  return `
import { createServer } from "node:https";
const patch = Buffer.from(JSON.stringify([{ op: "add", path: "/data", value: { seenBy: "a webhook in the Shoot" } }]));
const list = { kind: "APIResourceList", apiVersion: "v1", groupVersion: "${EXTENDED_GROUP}/v1", resources: [] };
const answer = (body) => {
  if (body === "") return list;
  const { apiVersion, kind, request } = JSON.parse(body);
  const response = { uid: request.uid, allowed: true, patchType: "JSONPatch", patch: patch.toString("base64") };
  return { apiVersion, kind, response };
};
createServer(${JSON.stringify({ cert: certificate, key })}, (request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk)).on("end", () => {
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer(body)));
  });
}).listen(${port}, () => console.log("listening"));
`;
}

function objects(address: string, caBundle: string): KubeObject[] {
  const service = { ...metadata, port: 443 };
  return [
    {
      ...{ apiVersion: "v1", kind: "Service", metadata },
      spec: { ports: [{ name: "https", port: 443, targetPort: port }] },
    },
    {
      ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4" },
      metadata: { ...metadata, labels: { "kubernetes.io/service-name": metadata.name } },
      ports: [{ name: "https", port, protocol: "TCP" }],
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
    },
    {
      ...{ apiVersion: "apiregistration.k8s.io/v1", kind: "APIService", metadata: { name: `v1.${EXTENDED_GROUP}` } },
      spec: {
        ...{ group: EXTENDED_GROUP, version: "v1", groupPriorityMinimum: 1000, versionPriority: 10 },
        ...{ service, caBundle },
      },
    },
    {
      ...{ apiVersion: "admissionregistration.k8s.io/v1", kind: "MutatingWebhookConfiguration" },
      metadata: { name: "extender" },
      webhooks: [
        {
          name: `marks.${EXTENDED_GROUP}`,
          ...{ admissionReviewVersions: ["v1"], sideEffects: "None", failurePolicy: "Fail", timeoutSeconds: 5 },
          clientConfig: { service: { ...service, path: "/mark" }, caBundle },
          objectSelector: { matchLabels: { marked: "yes" } },
          rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
        },
      ],
    },
  ] as KubeObject[];
}
