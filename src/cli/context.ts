import type { KubeClient } from "../kube/index.ts";
import type { VariablesOf } from "../variables.ts";
import type { BindingRegister } from "../binding/register.ts";
import type { InstallationClient } from "../client/installations.ts";
import type { ShootClient } from "../client/shoots.ts";
import type { LeaderLookup } from "../dns/index.ts";
import type { ProcessStatus } from "../local/process/processes.ts";
import type { BaseContext } from "./base-context.ts";

/** The environment variables that a verb may read: ours for the CLI, and kubectl's `KUBECONFIG`. */
export type Variables = VariablesOf<"CLI"> & { readonly KUBECONFIG?: string | undefined };

/** Where the clusters are, as the command line says. */
export interface ClusterOptions {
  readonly kubeconfig?: string | undefined;
  readonly temporal?: string | undefined;
  readonly temporalNamespace?: string | undefined;
}

/** A garden cluster, with the namespace that its kubeconfig's context names. */
export interface Garden {
  readonly client: KubeClient;
  readonly namespace: string | undefined;
}

/** What a verb works with; connections are made when they are asked for and closed when the verb has ended. */
export interface Context extends BaseContext {
  readonly variables: Variables;
  garden(options: ClusterOptions): Promise<Garden>;
  /** A cluster with Cluster API's objects, which need not be a garden. */
  management(options: ClusterOptions): Promise<Garden>;
  /** The seed's cluster where its kubeconfig is at hand, as in a local environment; undefined elsewhere. */
  seed(name: string, options: ClusterOptions): Promise<KubeClient | undefined>;
  /** The processes of the local environment where this garden is its own; none elsewhere. */
  processes(garden: Garden): Promise<readonly ProcessStatus[]>;
  flows(options: ClusterOptions): Promise<ShootClient>;
  /** Asks the servers of the leadership domain's zone which Seed leads a Shoot. */
  leaders(): Promise<LeaderLookup>;
  installations(options: ClusterOptions): Promise<InstallationClient>;
  /** Which copy of the garden Temporal's namespace means; also where that is not this one. */
  gardenRegister(options: ClusterOptions): Promise<BindingRegister>;
}
