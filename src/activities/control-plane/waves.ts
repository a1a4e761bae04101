import type { KubeObject } from "../../api/schema/meta.ts";

/** The objects in waves: none needs another one of its own wave, or of a later one, to be there. */
export function wavesOf(objects: readonly KubeObject[]): readonly (readonly KubeObject[])[] {
  const waveOf = ({ kind }: KubeObject): number => {
    if (kind === "Namespace" || kind === "Cluster") return 0;
    return usesOthers.has(kind) ? 2 : 1;
  };
  const waves = Map.groupBy(objects, waveOf);
  return [0, 1, 2].map((wave) => waves.get(wave) ?? []);
}

/** Workloads name accounts and configuration; who binds a role is asked whether it may, by what the role says. */
const usesOthers: ReadonlySet<string> = new Set([
  "RoleBinding",
  "ClusterRoleBinding",
  "Deployment",
  "StatefulSet",
  "DaemonSet",
  "Job",
  "CronJob",
]);
