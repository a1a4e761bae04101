import { ControlPlane, Infrastructure } from "../../api/index.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { Deployment, Namespace, refTo, type KubeClient } from "../../kube/index.ts";
import { podsOf } from "../waits/readiness.ts";

/**
 * What there is decides how the deletion goes: without an API server, or what it runs on, nothing can be cleaned through it.
 * One that has never been ready has nothing to clean: kube-controller-manager is deployed once it is.
 */
export async function readControlPlane(seedClient: KubeClient, run: ShootRun) {
  const key = { namespace: run.technicalID, name: run.name };
  const deployment = (name: string) => seedClient.read(Deployment, { namespace: run.technicalID, name });
  const [namespace, apiServer, controllerManager, infrastructure, controlPlane] = await Promise.all([
    seedClient.read(refTo(Namespace, { name: run.technicalID })),
    deployment("kube-apiserver"),
    deployment("kube-controller-manager"),
    seedClient.read(Infrastructure, key),
    seedClient.read(ControlPlane, key),
  ]);
  const namespaceUsable = namespace !== undefined && namespace.metadata.deletionTimestamp === undefined;
  const hasServed = apiServer !== undefined && (controllerManager !== undefined || podsOf(apiServer).ready > 0);
  return {
    namespaceUsable,
    cleanable: namespaceUsable && hasServed && (run.workerless || infrastructure !== undefined),
    controlPlaneNeeded:
      controlPlane !== undefined &&
      controlPlane.metadata.deletionTimestamp === undefined &&
      infrastructure?.status?.providerStatus !== undefined,
  };
}
