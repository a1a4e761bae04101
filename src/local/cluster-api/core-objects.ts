import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { CLUSTERCTL_LABEL } from "../../api/cluster-api/names.ts";
import { isNamedObject, type KubeObject } from "../../api/schema/meta.ts";
import { ensureModuleFiles } from "../binary/module-files.ts";
import { versions } from "../binary/versions.ts";

/** The namespace that Cluster API's own manifests are for. */
export const CORE_NAMESPACE = "capi-system";

/** Where the API server finds the core manager's webhooks, and the PEM that their certificate is checked with. */
export interface CoreWebhookAddress {
  readonly url: string;
  readonly caBundle: string;
}

/** What a management cluster holds beside Cluster API's objects, as the core manager's own module has it. */
export interface CoreObjects {
  /** Cluster API's definitions, and clusterctl's inventory of providers. */
  readonly definitions: readonly KubeObject[];
  /** The manager's roles and service account. */
  readonly rights: readonly KubeObject[];
  /** The line of clusterctl's inventory that says which core manager serves. */
  readonly inventory: KubeObject;
  /** What makes the API server ask the manager's webhooks. */
  webhooks(address: CoreWebhookAddress): KubeObject[];
}

/**
 * Reads the manifests of the core manager's module, and names and labels them as its `config/default` does. Definitions convert
 * nothing: only objects of v1beta2 can be written. Throws where the module cannot be got.
 */
export async function readCoreObjects(o: { readonly signal?: AbortSignal } = {}): Promise<CoreObjects> {
  const folder = await ensureModuleFiles(
    { module: "sigs.k8s.io/cluster-api", version: versions.clusterApi, folders },
    o,
  );
  const read = async (name: string) => await readFolder(join(folder, name));
  const [crds, inventory, roles, webhooks] = await Promise.all([
    read("core/config/crd/bases"),
    read("cmd/clusterctl/config/crd/bases"),
    read("core/config/rbac"),
    read("core/config/webhook"),
  ]);
  return {
    definitions: [...crds, ...inventory].map(labelled),
    rights: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: CORE_NAMESPACE } }, ...roles.map(named)],
    inventory: {
      apiVersion: "clusterctl.cluster.x-k8s.io/v1alpha3",
      kind: "Provider",
      metadata: {
        name: "cluster-api",
        namespace: CORE_NAMESPACE,
        labels: { [CLUSTERCTL_LABEL]: "", ...providerLabel },
      },
      providerName: "cluster-api",
      type: "CoreProvider",
      version: `v${versions.clusterApi}`,
    },
    webhooks: (address) => webhooks.filter(isConfiguration).map((one) => labelled(addressed(one, address))),
  };
}

const folders = [
  "core/config/crd/bases",
  "core/config/rbac",
  "core/config/webhook",
  "cmd/clusterctl/config/crd/bases",
] as const;

const providerLabel = { "cluster.x-k8s.io/provider": "cluster-api" };

async function readFolder(folder: string): Promise<KubeObject[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(".yaml")).sort();
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
  return texts
    .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as unknown))
    .filter(isNamedObject); // what kustomize reads beside them is none
}

function labelled<T extends KubeObject>(object: T): T {
  const { labels } = object.metadata;
  return {
    ...object,
    metadata: { ...object.metadata, labels: { ...labels, [CLUSTERCTL_LABEL]: "", ...providerLabel } },
  };
}

/** As kustomize does it: a prefix before each name, one namespace for all. */
function named(object: KubeObject): KubeObject {
  const { kind, metadata } = object;
  const namespaced = !kind.startsWith("ClusterRole");
  const { roleRef, subjects } = object as { roleRef?: Named; subjects?: readonly Named[] };
  return labelled({
    ...object,
    metadata: { ...metadata, name: prefixed(metadata.name), ...(namespaced && { namespace: CORE_NAMESPACE }) },
    ...(roleRef && { roleRef: { ...roleRef, name: prefixed(roleRef.name) } }),
    ...(subjects && {
      subjects: subjects.map((one) => ({ ...one, name: prefixed(one.name), namespace: CORE_NAMESPACE })),
    }),
  });
}

interface Named {
  readonly name: string;
}

const prefixed = (name: string): string => `capi-${name}`;

const isConfiguration = ({ kind }: KubeObject): boolean => kind.endsWith("WebhookConfiguration");

function addressed(configuration: KubeObject, { url, caBundle }: CoreWebhookAddress): KubeObject {
  const { webhooks } = configuration as unknown as { webhooks: readonly Entry[] };
  return {
    ...configuration,
    metadata: { name: prefixed(configuration.metadata.name) },
    webhooks: webhooks.map(({ clientConfig: { service }, ...webhook }) => ({
      ...webhook,
      clientConfig: {
        url: new URL(service.path, url).href,
        caBundle: Buffer.from(caBundle).toString("base64"),
      },
    })),
  };
}

interface Entry {
  readonly clientConfig: { readonly service: { readonly path: string } };
}
