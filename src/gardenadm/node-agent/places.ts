import { join } from "node:path";

/** Where a node agent finds and keeps things on its machine, below `root`; the paths are upstream's. */
export interface AgentPlaces {
  readonly configuration: string;
  /** With which the machine comes in first; it goes when it is not needed any more. */
  readonly token: string;
  /** The agent's own key and certificate. */
  readonly kubeconfig: string;
  readonly kubeletBootstrap: string;
  /** Of a kubelet that has joined. */
  readonly kubelet: string;
}

/** The places of a machine whose `/` is this folder. */
export function agentPlacesIn(root: string): AgentPlaces {
  const own = join(root, AGENT_FOLDER);
  return {
    configuration: join(own, "config.yaml"),
    token: join(own, "credentials/bootstrap-token"),
    kubeconfig: join(own, "credentials/kubeconfig"),
    kubeletBootstrap: join(root, "/var/lib/kubelet/kubeconfig-bootstrap"),
    kubelet: join(root, "/var/lib/kubelet/kubeconfig-real"),
  };
}

const AGENT_FOLDER = "/var/lib/gardener-node-agent";
