import type { BinaryName } from "../binary/versions.ts";
import { applyUpstreamCrds } from "../cluster/manifests.ts";
import { readManifest } from "../../manifests.ts";
import { ipPools } from "../cluster/ip-pools.ts";
import { hasMachinePods, installsExtensions, type Environment } from "./environment.ts";
import type { KubeClient } from "../../kube/index.ts";

/**
 * The kinds of type `local` that upstream's provider-local serves in an environment that is brought up for it, in place of
 * the built-in one. It serves besides what that one has not: DNSRecords of this type, and its Extensions.
 */
export const upstreamKinds: readonly string[] = ["Infrastructure", "ControlPlane", "BackupBucket"];

/** Those that it serves where it makes the machines. */
export const upstreamMachineKinds: readonly string[] = [
  ...["Infrastructure", "ControlPlane"],
  ...["OperatingSystemConfig", "Worker"],
];

/** The programs with which extensions are installed. */
export const installerBinaries: readonly BinaryName[] = ["helm", "gardener-resource-manager"];

/** The programs of which pods in such an environment are made. */
export const upstreamBinaries: readonly BinaryName[] = [
  ...installerBinaries,
  "gardener-extension-provider-local",
  "cloud-controller-manager-local",
  "local-path-provisioner",
];

/** The programs with which machines are made there, and that those get from the environment's registry. */
const machinePodBinaries: readonly BinaryName[] = [
  "machine-controller-manager",
  "machine-controller-manager-provider-local",
  "gardener-node-agent",
  "registry",
];

/** The programs of others that an environment needs besides its clusters'. */
export function binariesFor(environment: Pick<Environment, "left" | "providerLocal">): readonly BinaryName[] {
  if (hasMachinePods(environment)) return [...upstreamBinaries, ...machinePodBinaries];
  if (environment.left !== undefined) return upstreamBinaries;
  return installsExtensions(environment) ? installerBinaries : [];
}

/**
 * Lays in a seed the ground that installed extensions stand on: the rights of a resource manager, and for those of others
 * what they look for when they start.
 */
export async function applyGround(seedClient: KubeClient, environment: Pick<Environment, "left">): Promise<void> {
  const forOthers = environment.left === undefined ? [] : [ipPools];
  if (environment.left !== undefined) await applyUpstreamCrds(seedClient);
  for (const object of [...forOthers, ...(await readManifest("options/resource-manager/rbac.yaml"))])
    await seedClient.apply(object, { fieldManager: "operator" }); // a worker that applies less of the namespace takes nothing of it away
}
