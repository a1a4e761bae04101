import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { KubeClient } from "../../kube/index.ts";
import { issueKubeconfig, writeIfChanged, type RunningCluster } from "../cluster/clusters.ts";
import type { Environment } from "../environment/environment.ts";
import { readManifest } from "../cluster/manifests.ts";
import { gardenNamespace } from "../cluster/objects.ts";

/** The namespace of our processes' service accounts, as in `deploy/`. */
const namespace = "perennial";

/**
 * Gives our processes the rights in a cluster that they have in production, and no others: the roles of `deploy/`, and for
 * each process a kubeconfig as its service account. The garden's account of seed `seed-1` is called like the seed.
 */
export async function grantAccess(
  { environment, client, seeds }: { environment: Environment; client: KubeClient; seeds: readonly string[] },
  cluster: RunningCluster,
): Promise<void> {
  const inGarden = cluster.name === "garden";
  for (const object of inGarden ? await gardenRights(seeds) : await rights("seed/worker-rbac.yaml"))
    await client.apply(object);
  const accounts = inGarden ? gardenAccounts(seeds) : [{ process: workerOf(cluster.name), account: "worker-seed" }];
  await mkdir(join(environment.stateDir, "identities"), { recursive: true, mode: 0o700 });
  for (const { process, account } of accounts) {
    const commonName = `system:serviceaccount:${namespace}:${account}`;
    const kubeconfig = await issueKubeconfig(cluster, { name: `account-${account}`, commonName });
    await writeIfChanged(identityFile(environment, process, cluster.name), kubeconfig);
  }
}

/** The kubeconfig of one of our processes for a cluster of the environment, under a user of its own. */
export function identityFile({ stateDir }: Pick<Environment, "stateDir">, process: string, cluster: string): string {
  return join(stateDir, "identities", `${process}.${cluster}.yaml`);
}

const workerOf = (seed: string): string => `worker-${seed}`;

const gardenAccounts = (seeds: readonly string[]) => [
  ...["manager", "worker-garden"].map((name) => ({ process: name, account: name })),
  ...seeds.map((seed) => ({ process: workerOf(seed), account: seed })),
];

async function gardenRights(seeds: readonly string[]): Promise<KubeObject[]> {
  const files = ["garden/manager-rbac.yaml", "garden/worker-rbac.yaml", "garden/seed-access.yaml"];
  return [gardenNamespace, ...(await rights(...files)), seedsBinding(seeds)];
}

/** As kustomize does it: what has no namespace of its own is in ours. */
async function rights(...files: readonly string[]): Promise<KubeObject[]> {
  const objects = await Promise.all(["process/namespace.yaml", ...files].map(readManifest));
  return objects.flat().map((object) => {
    const namespaced = object.kind === "Role" || object.kind === "RoleBinding";
    return namespaced ? { ...object, metadata: { namespace, ...object.metadata } } : object;
  });
}

function seedsBinding(seeds: readonly string[]): KubeObject {
  const subjects = seeds.map((name) => ({ kind: "ServiceAccount", namespace, name }));
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "perennial:seed" };
  const metadata = { name: "perennial:seeds" };
  return { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRoleBinding", metadata, roleRef, subjects };
}
