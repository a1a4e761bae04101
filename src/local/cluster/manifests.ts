import type { KubeObject } from "../../api/schema/meta.ts";
import { define, type KubeClient } from "../../kube/index.ts";
import { readManifest, readManifests } from "../../manifests.ts";

/**
 * Applies what a cluster has to hold besides the definitions, which have to be there: the admission policies that refuse what
 * is written under an earlier epoch, in the garden those against what seeds and users may not write, in a seed its priority classes.
 */
export async function applyFoundations(client: KubeClient, cluster: "garden" | "seed"): Promise<void> {
  for (const object of (await Promise.all(foundations[cluster].map(readManifest))).flat()) await client.apply(object);
}

const foundations = {
  garden: [
    "garden/fencing.yaml",
    "garden/seed-restriction.yaml",
    "garden/reserved-keys.yaml",
    "garden/dns-records.yaml",
    "garden/project-labels.yaml",
  ],
  seed: ["seed/fencing.yaml", "seed/priority-classes.yaml"],
} as const;

/**
 * Applies the custom resource definitions that a garden or a seed needs, and returns when they are served. Those that another
 * brought, such as a gardenlet, stay as they are. A seed's worker watches ManagedResources and machines; what else extensions of others
 * look for is {@link applyUpstreamCrds}'s.
 */
export async function applyCrds(client: KubeClient, cluster: "garden" | "seed"): Promise<void> {
  const ours = (await readManifests("crds")).filter((crd) => isNeeded(crd, cluster));
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
  await define(client, await readManifests("seed/crds"));
}

/** Applies the definitions of our kinds for Cluster API, beside which its own have to be, and returns when they are served. */
export async function applyClusterApiCrds(client: KubeClient): Promise<void> {
  await define(client, await readManifests("cluster-api/crds"));
}

/** Extension objects live in seeds, all else in the garden; DNSRecords in both, because the garden says there who leads. */
function isNeeded({ metadata: { name } }: KubeObject, cluster: "garden" | "seed"): boolean {
  if (name === "dnsrecords.extensions.gardener.cloud") return true;
  return name.endsWith(".extensions.gardener.cloud") === (cluster === "seed");
}
