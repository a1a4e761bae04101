import { join } from "node:path";

/** Where a node agent finds and keeps things on its machine, below `root`; the paths are upstream's. */
export interface AgentPlaces {
  /** Where the API server is, for this machine. */
  readonly configuration: string;
  /** What the machine is for, which its pool's Secret itself may change. */
  readonly pool: string;
  /** With which the machine comes in first; it goes when it is not needed any more. */
  readonly token: string;
  /** The agent's own key and certificate. */
  readonly kubeconfig: string;
  readonly kubeletBootstrap: string;
  /** Of a kubelet that has joined. */
  readonly kubelet: string;
  /** A process holds it while it changes the machine by an OperatingSystemConfig. */
  readonly lock: string;
}

/** The places of a machine whose `/` is this folder. */
export function agentPlacesIn(root: string): AgentPlaces {
  const own = join(root, AGENT_FOLDER);
  return {
    configuration: join(own, "config.yaml"),
    pool: join(own, "pool.yaml"),
    token: join(own, "credentials/bootstrap-token"),
    kubeconfig: join(own, "credentials/kubeconfig"),
    kubeletBootstrap: join(root, "/var/lib/kubelet/kubeconfig-bootstrap"),
    kubelet: join(root, "/var/lib/kubelet/kubeconfig-real"),
    lock: join(own, "lock"),
  };
}

const AGENT_FOLDER = "/var/lib/gardener-node-agent";
