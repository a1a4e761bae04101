import { spawnChild, type Child } from "./child.ts";
import type { ControlPlane } from "./control-plane.ts";
import { freePorts } from "./free-ports.ts";

/** One of Kubernetes' own controllers, by its name in kube-controller-manager, on the cluster of a test. */
export async function startKubernetesController(
  { kubeconfigFile }: Pick<ControlPlane, "kubeconfigFile">,
  directory: string,
  name: string,
): Promise<Child> {
  const [port] = await freePorts(1);
  return await spawnChild(directory, "kube-controller-manager", [
    `--kubeconfig=${kubeconfigFile}`,
    `--controllers=${name}`,
    "--leader-elect=false",
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
  ]);
}
