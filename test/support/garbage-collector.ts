import { spawnChild, type Child } from "./child.ts";
import type { ControlPlane } from "./control-plane.ts";
import { freePorts } from "./free-ports.ts";

/** Kubernetes' own: what is owned goes after its owner, and what is deleted in the foreground once nothing depends on it. */
export async function startGarbageCollector({ kubeconfigFile }: ControlPlane, directory: string): Promise<Child> {
  const [port] = await freePorts(1);
  return await spawnChild(directory, "kube-controller-manager", [
    `--kubeconfig=${kubeconfigFile}`,
    "--controllers=garbage-collector-controller",
    "--leader-elect=false",
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
  ]);
}
