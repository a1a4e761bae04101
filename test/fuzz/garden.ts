import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKubeClient, renderKubeconfig, type KubeClient } from "../../src/kube/index.ts";
import type { KubeObject } from "../../src/api/index.ts";

/** Kinds that admission reads, by the path of their API version. */
const served: Readonly<Record<string, readonly (readonly [plural: string, kind: string, namespaced: boolean])[]>> = {
  "/api/v1": [
    ["secrets", "Secret", true],
    ["configmaps", "ConfigMap", true],
    ["namespaces", "Namespace", false],
  ],
  "/apis/authorization.k8s.io/v1": [["subjectaccessreviews", "SubjectAccessReview", false]],
  "/apis/core.gardener.cloud/v1beta1": [
    ["shoots", "Shoot", true],
    ["seeds", "Seed", false],
    ["cloudprofiles", "CloudProfile", false],
    ["namespacedcloudprofiles", "NamespacedCloudProfile", true],
    ["projects", "Project", false],
    ["quotas", "Quota", true],
    ["exposureclasses", "ExposureClass", false],
    ["controllerinstallations", "ControllerInstallation", false],
    ["backupbuckets", "BackupBucket", false],
    ["backupentries", "BackupEntry", true],
    ["secretbindings", "SecretBinding", true],
    ["controllerregistrations", "ControllerRegistration", false],
    ["controllerdeployments", "ControllerDeployment", false],
  ],
  "/apis/operations.gardener.cloud/v1alpha1": [["bastions", "Bastion", true]],
  "/apis/security.gardener.cloud/v1alpha1": [["credentialsbindings", "CredentialsBinding", true]],
  "/apis/perennial.dev/v1alpha1": [["domainreservations", "DomainReservation", false]],
};

/** A garden that never changes. */
export interface StillGarden {
  readonly client: KubeClient;
  stop(): Promise<void>;
}

/**
 * Serves these objects to a real client, over HTTP and under the paths of an API server: tens of thousands of questions a
 * minute, and always the same answers. Everyone may do everything.
 */
export async function startStillGarden(objects: readonly KubeObject[]): Promise<StillGarden> {
  const byPath = new Map(objects.map((object) => [pathOf(object), object]));
  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? "/").replace(/\?.*$/, ""));
    request.resume();
    if (new URL(request.url ?? "/", "http://garden").searchParams.has("watch")) return sendBookmarks(response, path);
    if (request.method === "POST") return send(response, 201, { status: { allowed: true } });
    const kinds = served[path];
    if (kinds) return send(response, 200, { resources: kinds.map(resource) });
    const found = byPath.get(path);
    if (found) return send(response, 200, found);
    if (!isCollection(path))
      return send(response, 404, { reason: "NotFound", message: `there is no ${path}`, code: 404 });
    const items = objects.filter((object) => collectionsOf(object).includes(path));
    return send(response, 200, { items, metadata: { resourceVersion: "1" } });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const kubeconfig = renderKubeconfig({ server: `http://127.0.0.1:${port}`, ca: "", token: "any" });
  // A kubeconfig found in a cluster may not name a server without TLS; a file of this machine may.
  const directory = await mkdtemp(join(tmpdir(), "perennial-still-garden-"));
  const file = join(directory, "kubeconfig.yaml");
  await writeFile(file, kubeconfig);
  const client = createKubeClient({ file });
  return {
    client,
    async stop() {
      await client.close();
      await rm(directory, { recursive: true, force: true });
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const resource = ([name, kind, namespaced]: readonly [string, string, boolean]) => ({
  ...{ name, kind, namespaced },
  verbs: ["get", "list", "create"],
});

const baseOf = (apiVersion: string): string =>
  apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;

function pluralOf({ apiVersion, kind }: KubeObject): string {
  return served[baseOf(apiVersion)]?.find(([, one]) => one === kind)?.[0] ?? `${kind.toLowerCase()}s`;
}

/** In its namespace, and over all namespaces. */
function collectionsOf(object: KubeObject): string[] {
  const { namespace } = object.metadata;
  const base = baseOf(object.apiVersion);
  const all = `${base}/${pluralOf(object)}`;
  return namespace === undefined ? [all] : [all, `${base}/namespaces/${namespace}/${pluralOf(object)}`];
}

const pathOf = (object: KubeObject): string => `${collectionsOf(object).at(-1) ?? ""}/${object.metadata.name}`;

const isCollection = (path: string): boolean =>
  Object.values(served).some((kinds) => kinds.some(([plural]) => path.endsWith(`/${plural}`)));

/** A watch in which nothing happens: API servers send a bookmark now and then, by which clients know that they are heard. */
function sendBookmarks(response: ServerResponse, path: string): void {
  const [apiVersion = "", kinds = []] = Object.entries(served).find(([base]) => path.startsWith(`${base}/`)) ?? [];
  const [, kind = ""] = kinds.find(([plural]) => path.endsWith(`/${plural}`)) ?? [];
  const object = { apiVersion: apiVersion.replace(/^\/apis?\//, ""), kind, metadata: { resourceVersion: "1" } };
  response.writeHead(200, { "content-type": "application/json" });
  const beat = () => void response.write(`${JSON.stringify({ type: "BOOKMARK", object })}\n`);
  beat();
  const timer = setInterval(beat, 10_000);
  response.once("close", () => clearInterval(timer));
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
