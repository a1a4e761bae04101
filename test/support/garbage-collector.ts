import type { Child } from "./child.ts";
import type { ControlPlane } from "./control-plane.ts";
import { startKubernetesController } from "./kubernetes-controller.ts";

/** Kubernetes' own: what is owned goes after its owner, and what is deleted in the foreground once nothing depends on it. */
export const startGarbageCollector = async (cluster: ControlPlane, directory: string): Promise<Child> =>
  await startKubernetesController(cluster, directory, "garbage-collector-controller");
