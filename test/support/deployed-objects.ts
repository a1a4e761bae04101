import type { Shoot, Worker } from "../../src/api/index.ts";
import {
  components,
  containerRuntimeObjects,
  controlPlaneObject,
  extensionObjects,
  infrastructureObject,
  networkObject,
  nodeAgentSecretName,
  operatingSystemConfigs,
  poolsOf,
  workerObject,
} from "../../src/components/index.ts";
import { exampleContext } from "./control-plane-context.ts";

/**
 * All that is deployed for a Shoot, in its seed and in itself, in every part that it may have, as JSON. Without the object Cluster, which has the
 * Shoot as it is written, and without the sum over a pool's settings in names, and what Worker tells of kubelets, which are not made from it: a setting that is nowhere else
 * is not acted on.
 */
export function deployedObjects(shoot: Shoot): string {
  const extensions = (shoot.spec.extensions ?? [])
    .filter(({ disabled }) => disabled !== true)
    .map(({ type }) => ({ type, reconcile: "AfterKubeAPIServer" as const }));
  const context = exampleContext({
    ...{ shoot, extensions, managesResources: true, tunnel: true, sshPublicKey: "ssh-rsa AAAA" },
    machines: { managerReplicas: 1, deployments: [{ name: "worker", minimum: 1, maximum: 3 }] },
  } as never);
  const pools = poolsOf(context);
  const userData = Object.fromEntries(pools.map(({ name }) => [name, { name, key: "cloud_config" }]));
  const all = [
    ...Object.values(components).flatMap(({ objects }) => objects(context)),
    ...[infrastructureObject(context), controlPlaneObject(context), networkObject(context)],
    ...extensionObjects(context),
    ...containerRuntimeObjects(context),
    ...pools.flatMap((pool) => operatingSystemConfigs(context, pool)),
    withoutKubeletConfig(workerObject(context, { userData })),
  ];
  const text = JSON.stringify(all.filter(({ kind }) => kind !== "Cluster"));
  return pools.reduce((rest, pool) => rest.replaceAll(nodeAgentSecretName(context, pool), `pool ${pool.name}`), text);
}

const withoutKubeletConfig = (worker: Worker): Worker => ({
  ...worker,
  spec: { ...worker.spec, pools: worker.spec.pools.map(({ kubeletConfig: _, ...pool }) => pool) },
});
