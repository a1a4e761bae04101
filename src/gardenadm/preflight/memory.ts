import { totalmem } from "node:os";
import type { NodeRole } from "../../api/names.ts";
import { carriesControlPlane, type Candidate } from "./candidate.ts";

/** In MiB. Etcd, API server, controllers and a kubelet take the one; kubelets keep 1 GiB of the other from all pods. */
const LEAST = { controlPlane: 1741, worker: 1229 } as const;

/** Why the machine's memory does not suffice. */
export function memoryFaults({ memory = totalmem() }: Pick<Candidate, "memory">, role: NodeRole): string[] {
  const [least, what] = carriesControlPlane(role)
    ? [LEAST.controlPlane, "a control plane"]
    : [LEAST.worker, "a worker"];
  const has = Math.floor(memory / 1024 ** 2);
  return has >= least ? [] : [`the machine has ${has} MiB of memory: give it at least ${least} MiB for ${what}`];
}
