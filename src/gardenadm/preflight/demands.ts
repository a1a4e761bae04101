import type { Shoot } from "../../api/index.ts";
import { networksOf, type WorkerPool } from "../../components/index.ts";

/** What a cluster asks of the machines of one of its pools, as far as a machine can stand against it. */
export interface Demands {
  /** In CIDR notation, by their field of `spec.networking`. */
  readonly networks: { readonly pods: string; readonly services: string; readonly nodes?: string | undefined };
  /** Whether the pool's kubelet ends itself on a machine that swaps, where the machine says nothing else. */
  readonly failSwapOn: boolean;
  /** How many extensions may run on the network of a host. */
  readonly extensions: number;
}

/** What a Shoot asks of the machines of this pool. */
export function demandsOf(shoot: Shoot, pool: WorkerPool | undefined, extensions = 0): Demands {
  const { pods, services } = networksOf({ shoot });
  const settings = pool?.kubernetes?.kubelet ?? shoot.spec.kubernetes.kubelet;
  return {
    networks: { pods, services, nodes: shoot.spec.networking?.nodes },
    failSwapOn: settings?.failSwapOn ?? true,
    extensions,
  };
}
