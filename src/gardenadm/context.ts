import type { KubeClient, Kubeconfig } from "../kube/index.ts";
import type { BaseContext } from "../cli/base-context.ts";
import { defineCommandFor } from "../cli/command.ts";
import type { ThisMachine, WantedMachine } from "./machine/this-machine.ts";

/** A self-hosted cluster or a garden, as a kubeconfig leads to it. */
export interface Cluster {
  readonly client: KubeClient;
  readonly kubeconfig: Kubeconfig;
  /** What errors call the kubeconfig: its path, and what named it. */
  readonly called: string;
}

/** What a verb of gardenadm works with; connections are made when they are asked for and closed when the verb has ended. */
export interface GardenadmContext extends BaseContext {
  cluster(options: { readonly kubeconfig?: string | undefined }): Promise<Cluster>;
  garden(options: { readonly kubeconfig?: string | undefined }): Promise<Cluster>;
  /** Looks at the machine that the command runs on; throws as `findThisMachine` does. */
  machine(wanted?: WantedMachine): Promise<ThisMachine>;
  /** The whole text of standard input. */
  input(): Promise<string>;
}

/** Declares a verb of `gardenadm`. */
export const defineCommand = defineCommandFor<GardenadmContext>();
