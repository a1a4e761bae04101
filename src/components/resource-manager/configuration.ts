import { stringify } from "yaml";
import { secretPath } from "../files.ts";

/** Name of the resource manager's workload, account, lease and Service. */
export const RESOURCE_MANAGER = "gardener-resource-manager";

/** Secret with the certificate of its webhook server, which starts with it even where no webhook is registered. */
export const RESOURCE_MANAGER_SERVER = "gardener-resource-manager-server";

/** Where it listens. */
export const ports = { metrics: 8080, health: 8081, webhooks: 10250 } as const;

/** What a resource manager is responsible for: objects of the seed itself, or of a Shoot whose control plane is there. */
export type Responsibility = { readonly of: "seed"; readonly namespace: string } | ShootResponsibility;

interface ShootResponsibility {
  readonly of: "shoot";
  readonly namespace: string;
  /** Secret with the kubeconfig for the Shoot. */
  readonly kubeconfig: string;
  /** machine-controller-manager makes the Shoot's machines, and all of them are Machines in the namespace. */
  readonly hasMachines: boolean;
}

/**
 * Its configuration (resourcemanager.config.gardener.cloud/v1alpha1), as a file. Off is the controller of NetworkPolicies: the
 * Shoots' namespaces have ours. Of the webhooks, only that which mounts tokens is on, and only in seeds.
 */
export function configurationOf(responsibility: Responsibility): string {
  const { namespace } = responsibility;
  return stringify({
    apiVersion: "resourcemanager.config.gardener.cloud/v1alpha1",
    kind: "ResourceManagerConfiguration",
    leaderElection: { leaderElect: true, resourceName: RESOURCE_MANAGER, resourceNamespace: namespace },
    server: {
      webhooks: { port: ports.webhooks, tls: { serverCertDir: secretPath(RESOURCE_MANAGER_SERVER, "").slice(0, -1) } },
      healthProbes: { port: ports.health },
      metrics: { port: ports.metrics },
    },
    logLevel: "info",
    logFormat: "json",
    ...(responsibility.of === "seed" ? forSeed : forShoot(responsibility)),
  });
}

const always = {
  garbageCollector: { enabled: true, syncPeriod: "12h" },
  health: { concurrentSyncs: 10, syncPeriod: "1m" },
};

/**
 * As upstream's gardenlet has it: what charts say is put right once an hour, or when it is changed; and pods whose
 * account mounts no token by itself get one that is bound to them.
 */
const forSeed = {
  controllers: { resourceClass: "seed", ...always, managedResource: { concurrentSyncs: 20, syncPeriod: "1h" } },
  webhooks: { projectedTokenMount: { enabled: true } },
};

/** Users change what is in their clusters: there each look writes. */
function forShoot({ namespace, kubeconfig, hasMachines }: ShootResponsibility) {
  return {
    sourceClientConnection: { namespaces: [namespace] },
    targetClientConnection: { kubeconfig: secretPath(kubeconfig, "kubeconfig") },
    controllers: {
      ...always,
      managedResource: { concurrentSyncs: 20, syncPeriod: "1h", alwaysUpdate: true },
      tokenRequestor: { enabled: true, concurrentSyncs: 5 },
      // With a namespace of Machines, it denies every kubelet and agent on a machine that is not one of these.
      csrApprover: { enabled: true, concurrentSyncs: 5, ...(hasMachines ? { machineNamespace: namespace } : {}) },
    },
  };
}
