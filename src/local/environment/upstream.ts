import type { BinaryName } from "../binary/versions.ts";
import { applyUpstreamCrds, readManifest } from "../cluster/manifests.ts";
import { ipPools } from "../cluster/ip-pools.ts";
import type { KubeClient } from "../../kube/index.ts";

/** The kinds of type `local` that upstream's provider-local serves in an environment that is brought up for it. */
export const upstreamKinds: readonly string[] = ["Infrastructure", "ControlPlane"];

/** The programs of which pods in such an environment are made. */
export const upstreamBinaries: readonly BinaryName[] = [
  "helm",
  "gardener-resource-manager",
  "gardener-extension-provider-local",
  "cloud-controller-manager-local",
  "local-path-provisioner",
];

/** Lays in a seed the ground that extensions of others stand on: definitions, and the rights of a resource manager. */
export async function applyUpstreamGround(seedClient: KubeClient): Promise<void> {
  await applyUpstreamCrds(seedClient);
  for (const object of [ipPools, ...(await readManifest("options/resource-manager/rbac.yaml"))])
    await seedClient.apply(object, { fieldManager: "operator" }); // a worker that applies less of the namespace takes nothing of it away
}
