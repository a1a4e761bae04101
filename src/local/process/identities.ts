import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { KubeClient } from "../../kube/index.ts";
import { issueKubeconfig, type RunningCluster } from "../cluster/clusters.ts";
import { writeIfChanged } from "../cluster/private-file.ts";
import type { Environment } from "../environment/environment.ts";
import { readManifest } from "../../manifests.ts";
import { SEED_IDENTITIES_NAMESPACE } from "../../api/names.ts";
import { gardenNamespace } from "../cluster/objects.ts";

/** The namespace of the service accounts of our processes, as in `deploy/`; seeds have another in the garden. */
const namespace = "perennial";

/**
 * Gives our processes the rights in a cluster that they have in production, and no others: the roles of `deploy/`, and for
 * each process a kubeconfig as its service account.
 */
export async function grantAccess(
  { environment, client, seeds, clusterApi }: AccessOptions,
  cluster: RunningCluster,
): Promise<void> {
  const inGarden = cluster.name === "garden";
  const seedRights = () => rights("seed/worker-rbac.yaml", "seed/fence-rbac.yaml");
  for (const object of inGarden ? await gardenRights(clusterApi) : await seedRights()) await client.apply(object);
  const accounts = inGarden ? gardenAccounts(seeds, clusterApi) : seedAccounts(cluster.name);
  await mkdir(join(environment.stateDir, "identities"), { recursive: true, mode: 0o700 });
  for (const { process, user } of accounts)
    await writeIfChanged(identityFile(environment, process, cluster.name), await issueKubeconfig(cluster, user));
}

/** Whose rights are given: the garden's processes, one worker and fence for each seed, and where it is wanted `cluster-api`. */
export interface AccessOptions {
  readonly environment: Environment;
  readonly client: KubeClient;
  readonly seeds: readonly string[];
  readonly clusterApi: boolean;
}

/** The kubeconfig of one of our processes for a cluster of the environment, under a user of its own. */
export function identityFile({ stateDir }: Pick<Environment, "stateDir">, process: string, cluster: string): string {
  return join(stateDir, "identities", `${process}.${cluster}.yaml`);
}

const workerOf = (seed: string): string => `worker-${seed}`;

const seedAccounts = (seed: string) => [
  account(workerOf(seed), namespace, "worker-seed"),
  account(`fence-${seed}`, namespace, "fence"),
];

const gardenAccounts = (seeds: readonly string[], clusterApi: boolean) => [
  ...["manager", "worker-garden", ...(clusterApi ? ["cluster-api"] : [])].map((name) => account(name, namespace, name)),
  ...seeds.map((seed) => account(workerOf(seed), SEED_IDENTITIES_NAMESPACE, seed)),
];

/** A process and its service account, as whom and in which group a cluster knows it. */
const account = (process: string, of: string, name: string) => ({
  process,
  user: {
    name: `account-${name}`,
    commonName: `system:serviceaccount:${of}:${name}`,
    organization: `system:serviceaccounts:${of}`,
  },
});

async function gardenRights(clusterApi: boolean): Promise<KubeObject[]> {
  const files = ["manager-rbac", "worker-rbac", "seed-access", "extension-access", "cluster-identity"].map(
    (name) => `garden/${name}.yaml`,
  );
  return [
    gardenNamespace,
    ...(await rights(
      ...files,
      ...(clusterApi
        ? ["rbac", "endpoint-rbac", "endpoint-record-rbac", "shoots-rbac", "garden-rbac"].map(
            (name) => `cluster-api/${name}.yaml`,
          )
        : []),
    )),
  ];
}

/** As kustomize does it: what has no namespace of its own is in ours. */
async function rights(...files: readonly string[]): Promise<KubeObject[]> {
  const objects = await Promise.all(["process/namespace.yaml", ...files].map(readManifest));
  return objects.flat().map((object) => {
    const namespaced = object.kind === "Role" || object.kind === "RoleBinding";
    return namespaced ? { ...object, metadata: { namespace, ...object.metadata } } : object;
  });
}
