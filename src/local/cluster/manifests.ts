import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../api/schema/meta.ts";
import { CustomResourceDefinition, type KubeClient } from "../../kube/index.ts";

const deploy = new URL("../../../deploy/", import.meta.url);

/** The objects in a YAML file below `deploy/`. */
export async function readManifest(file: string): Promise<KubeObject[]> {
  const documents = parseAllDocuments(await readFile(new URL(file, deploy), "utf8"));
  return "empty" in documents ? [] : documents.map((document) => document.toJS() as KubeObject);
}

/**
 * Applies what a cluster has to hold besides the definitions, which have to be there: the admission policies that refuse what
 * is written under an earlier epoch, in the garden those against what a seed may not write, in a seed its priority classes.
 */
export async function applyFoundations(client: KubeClient, cluster: "garden" | "seed"): Promise<void> {
  for (const object of (await Promise.all(foundations[cluster].map(readManifest))).flat()) await client.apply(object);
}

const foundations = {
  garden: ["garden/fencing.yaml", "garden/seed-restriction.yaml"],
  seed: ["seed/fencing.yaml", "seed/priority-classes.yaml"],
} as const;

/**
 * Applies the custom resource definitions that a garden or a seed needs, and returns when they are served. Those that another
 * brought, such as a gardenlet, stay as they are. A seed's worker watches ManagedResources and machines; what else extensions of others
 * look for is {@link applyUpstreamCrds}'s.
 */
export async function applyCrds(client: KubeClient, cluster: "garden" | "seed"): Promise<void> {
  const ours = (await readFolder("crds")).filter((crd) => isNeeded(crd, cluster));
  const watched = cluster === "seed" ? (await Promise.all(watchedInSeeds.map(readManifest))).flat() : [];
  await define(client, [...ours, ...watched]);
}

/** The definitions of others that a seed's worker needs. */
const watchedInSeeds = [
  "resources.gardener.cloud_managedresources",
  "machine.sapcloud.io_machinedeployments",
  "machine.sapcloud.io_machinesets",
  "machine.sapcloud.io_machines",
].map((name) => `seed/crds/${name}.yaml`);

/** Applies the definitions that extensions of others look for in a seed when they start, and returns when they are served. */
export async function applyUpstreamCrds(client: KubeClient): Promise<void> {
  await define(client, await readFolder("seed/crds"));
}

/** Applies the definitions of our kinds for Cluster API, beside which its own have to be, and returns when they are served. */
export async function applyClusterApiCrds(client: KubeClient): Promise<void> {
  await define(client, await readFolder("cluster-api/crds"));
}

/** Applies definitions, but for those that another brought, and returns when all are served. */
export async function define(client: KubeClient, crds: readonly KubeObject[]): Promise<void> {
  await Promise.all(crds.map(async (crd) => ((await isOthers(client, crd)) ? undefined : client.apply(crd))));
  await Promise.all(crds.map((crd) => untilServed(client, crd)));
}

/** Whether another brought the definition, such as a gardenlet: its own objects are written by that one. Ours may be older. */
async function isOthers(client: KubeClient, { metadata: { name } }: KubeObject): Promise<boolean> {
  const present = await client.read(CustomResourceDefinition, { name });
  const { managedFields = [] } = (present?.metadata ?? {}) as { readonly managedFields?: readonly ManagedFields[] };
  return present !== undefined && !managedFields.some(({ manager }) => ourManagers.has(manager ?? ""));
}

interface ManagedFields {
  readonly manager?: string;
}

/** Ourselves, and operators who apply deploy/ by hand. */
const ourManagers: ReadonlySet<string> = new Set(["perennial", "kubectl"]);

async function readFolder(folder: string): Promise<KubeObject[]> {
  const files = (await readdir(new URL(`${folder}/`, deploy))).filter((name) => name.endsWith(".yaml"));
  return (await Promise.all(files.map((name) => readManifest(`${folder}/${name}`)))).flat();
}

/** Extension objects live in seeds, all else in the garden; DNSRecords in both, because the garden says there who leads. */
function isNeeded({ metadata: { name } }: KubeObject, cluster: "garden" | "seed"): boolean {
  if (name === "dnsrecords.extensions.gardener.cloud") return true;
  return name.endsWith(".extensions.gardener.cloud") === (cluster === "seed");
}

async function untilServed(client: KubeClient, { metadata: { name } }: KubeObject): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const crd = await client.read(CustomResourceDefinition, { name });
    if (crd?.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True")) return;
    await delay(100);
  }
  throw new Error(`cannot use ${name}: the API server does not serve it after 30 s`);
}
