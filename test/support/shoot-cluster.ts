import { createKubeClient, type KubeClient } from "../../src/kube/index.ts";
import type { TestShoot } from "./e2e-shoots.ts";
import type { LocalEnvironment } from "./local-environment.ts";

/** A Shoot's cluster as its administrator has it, to be closed by the caller; its address is another one after a move. */
export async function openShootCluster(
  local: LocalEnvironment,
  { ref: { namespace, name } }: Pick<TestShoot, "ref">,
): Promise<KubeClient> {
  const kubeconfig = await local.perennial("shoot", "kubeconfig", `${namespace}/${name}`);
  return createKubeClient({ kubeconfig }, { log: local.log, fieldManager: "test" });
}
