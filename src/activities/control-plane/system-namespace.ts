import { SYSTEM_NAMESPACE } from "../../api/names.ts";
import type { ShootRun } from "../../api/shoot/run.ts";
import { configurationProblem } from "../step-error.ts";
import type { SeedActivities } from "../index.ts";

/**
 * Whether an activity stops, sweeps or deletes what is in the Shoot's namespace, or through its API server in all others. Each has
 * to say: a new one is a compile error here.
 */
export const ends: Readonly<Record<keyof SeedActivities, boolean>> = {
  ...{ survey: false, answer: false, readControlPlane: false, waitFor: false, explainWait: false, checkSource: false },
  ...{ deployComponent: false, applyExtension: false, restoreExtension: false, lowerTtl: false, warmUpImages: false },
  ...{ takeSnapshot: false, keepSnapshot: false, prepareEtcd: false, listSnapshots: false, checkNewestSnapshot: false },
  ...{ keepNewestSnapshot: false, restoreEtcdVolume: false, finishEtcdVolume: false, deploySecrets: false },
  ...{ confirmEtcdDamage: false, stopDamagedApiServer: true, stopDamagedEtcd: true },
  ...{ restoreEtcdData: true, switchEtcdData: true },
  ...{ deployCloudProviderSecret: false, deployNodeAgentSecrets: false, awaitManagedResources: false },
  ...{
    deployReferencedResources: false,
    publishInfrastructure: false,
    publishAddress: false,
    publishKubeconfig: false,
  },
  ...{
    encryptResources: false,
    syncCluster: false,
    initializeShootClients: false,
    checkTunnel: false,
    checkRoutes: false,
  },
  ...{ announceLeader: false, persistState: false, restoreKeptSecrets: false, forgetMachineState: false },
  // Of extension objects and references, only those that the Shoot does not ask for any more.
  ...{ removeStaleConfigs: false, removeStaleExtensions: false, removeStaleResources: false },
  ...{ removeStaleResourceManagerWebhooks: false, removeUnusedResourceManager: false },
  ...{
    destroyComponent: true,
    removeExtension: true,
    removeBastions: true,
    removeNamespace: true,
    removeCluster: true,
  },
  ...{ migrateExtension: true, stopWorkload: true, stopWorkloads: true, abandonExtensions: true, removeState: true },
  ...{ releaseManagedResources: true, removeManagedResources: true, announceHandover: true, raiseFence: true },
  ...{ cleanWebhooks: true, cleanExtendedApis: true, cleanKubernetesResources: true },
};

/**
 * The same activities, of which none ends anything in `kube-system`: there the system of a whole cluster is, that of a seed or of a
 * self-hosted Shoot. They fail as what no retry mends, before they look at anything.
 */
export function sparingSystem(activities: SeedActivities): SeedActivities {
  const careful = Object.entries<Activity>(activities as never).map(([name, activity]) => {
    if (ends[name as keyof SeedActivities] === false) return [name, activity] as const;
    const refusing: Activity = async (run, ...rest) => {
      if (run.technicalID === SYSTEM_NAMESPACE)
        throw configurationProblem(
          `cannot do ${name} in namespace ${SYSTEM_NAMESPACE}: it is the system of a whole cluster; on its machines, gardenadm takes it apart`,
        );
      return await activity(run, ...rest);
    };
    return [name, refusing] as const;
  });
  return Object.fromEntries(careful) as never;
}

type Activity = (run: ShootRun, ...rest: unknown[]) => Promise<unknown>;
