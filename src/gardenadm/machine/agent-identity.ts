import type { AgentConfiguration } from "./agent-configuration.ts";
import type { AgentPlaces } from "./agent-places.ts";

/** Whom a node agent acts as, and where on its machine it finds what it acts by. */
export interface AgentIdentity {
  /** The folder that is the machine's `/`. */
  readonly root: string;
  readonly places: AgentPlaces;
  /** The name of the node, which is that of its machine. */
  readonly node: string;
  readonly configuration: AgentConfiguration;
  /** The kubeconfig that an administrator has on nodes of a control plane. */
  readonly adminKubeconfig: string;
}
