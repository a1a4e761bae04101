import { dirname } from "node:path";
import { WORKLOADS_CHECKSUM_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { STATIC_POD_MANIFESTS } from "../../components/node/kubelet-config.ts";
import type { Secret } from "../../kube/kinds.ts";
import { workloadsChecksum } from "../../self-hosted/workloads-checksum.ts";
import { readMachineOrder } from "../cluster/machine-order.ts";

/** Whether a pool's Secret was made from other workloads than these; one that does not say of which is the next `gardenadm init`'s. */
export function areOthers(secret: Secret, present: readonly KubeObject[]): boolean {
  const made = secret.metadata.annotations?.[WORKLOADS_CHECKSUM_ANNOTATION];
  const workloads = workloadsOf(secret, present);
  return made !== undefined && workloads.length > 0 && workloadsChecksum(workloads) !== made;
}

/** The workloads of which a pool's Secret has static pods, in their order; none where one of them is gone, which only `gardenadm init` mends. */
export function workloadsOf(secret: Secret, present: readonly KubeObject[]): readonly KubeObject[] {
  const names = staticPodNames(secret);
  const found = names.flatMap((name) => present.filter(({ metadata }) => metadata.name === name));
  return found.length === names.length ? found : [];
}

/** The names of the static pods that a pool's Secret has manifests of. */
function staticPodNames(secret: Secret): readonly string[] {
  const { files = [] } = readMachineOrder(secret).config.spec;
  const manifests = files.filter(({ path }) => dirname(path) === STATIC_POD_MANIFESTS);
  return manifests.map(({ path }) => path.slice(STATIC_POD_MANIFESTS.length + 1, -".yaml".length));
}
