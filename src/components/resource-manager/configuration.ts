import { POOL_SYSTEM_COMPONENTS_LABEL } from "../../api/labels.ts";
import type { WorkerPool } from "../context.ts";
import { secretPath } from "../files.ts";
import { taintsOf } from "../node/pool.ts";
import { renderYaml } from "../../yaml.ts";

/** Name of the resource manager's workload, account, lease and Service. */
export const RESOURCE_MANAGER = "gardener-resource-manager";

/** Secret with the certificate of its webhook server, which starts with it even where no webhook is registered. */
export const RESOURCE_MANAGER_SERVER = "gardener-resource-manager-server";

/** Where a resource manager listens. */
export interface Ports {
  readonly metrics: number;
  readonly health: number;
  readonly webhooks: number;
}

/** Where it listens in a network of its own. */
export const PORTS: Ports = { metrics: 8080, health: 8081, webhooks: 10250 };

/** What a resource manager is responsible for: objects of the seed itself, or of a Shoot whose control plane is there. */
export type Responsibility = { readonly of: "seed"; readonly namespace: string } | ShootResponsibility;

interface ShootResponsibility {
  readonly of: "shoot";
  readonly namespace: string;
  /** Secret with the kubeconfig for the Shoot; none where its control plane is in the Shoot itself. */
  readonly kubeconfig?: string;
  /** The Shoot's pools; without one there are no pods to change. */
  readonly pools: readonly WorkerPool[];
  /** machine-controller-manager makes the Shoot's machines, and all of them are Machines in the namespace. */
  readonly hasMachines: boolean;
  /** Who gets a certificate is judged by the Shoot's own control plane, and not by the resource manager. */
  readonly approvesItself: boolean;
}

/**
 * Its configuration (resourcemanager.config.gardener.cloud/v1alpha1), as a file. Off is the controller of NetworkPolicies: the
 * Shoots' namespaces have ours. Which webhooks are on, and why the others are not, says decision 18.
 */
export function configurationOf(responsibility: Responsibility, ports = PORTS): string {
  const { namespace } = responsibility;
  return renderYaml({
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
function forShoot({ namespace, kubeconfig, pools, hasMachines, approvesItself }: ShootResponsibility) {
  return {
    sourceClientConnection: { namespaces: [namespace] },
    ...(kubeconfig && { targetClientConnection: { kubeconfig: secretPath(kubeconfig, "kubeconfig") } }),
    controllers: {
      ...always,
      managedResource: { concurrentSyncs: 20, syncPeriod: "1h", alwaysUpdate: true },
      tokenRequestor: { enabled: true, concurrentSyncs: 5 },
      csrApprover: approvesItself ? { enabled: false } : csrApprover(hasMachines ? namespace : undefined),
    },
    ...(pools.length === 0 ? {} : { webhooks: podWebhooksFor(pools) }),
  };
}

/**
 * With a namespace of Machines, it denies every kubelet and agent on a machine that is not one of these. It does not look at the
 * groups that an agent asks for.
 */
const csrApprover = (machineNamespace: string | undefined) => ({
  enabled: true,
  concurrentSyncs: 5,
  ...(machineNamespace === undefined ? {} : { machineNamespace }),
});

/** Pods get tokens; those that extensions put into the Shoot run where system components may, whatever taints are there. */
function podWebhooksFor(pools: readonly WorkerPool[]) {
  const forSystemComponents = { [POOL_SYSTEM_COMPONENTS_LABEL]: "true" };
  return {
    projectedTokenMount: { enabled: true },
    systemComponentsConfig: {
      enabled: true,
      nodeSelector: forSystemComponents,
      podNodeSelector: forSystemComponents,
      podTolerations: tolerationsFor(pools),
    },
  };
}

/** Tolerations for the taints of all pools for system components: one for each, in the order of their keys. */
function tolerationsFor(pools: readonly WorkerPool[]) {
  const taints = pools.filter((pool) => pool.systemComponents?.allow ?? true).flatMap(taintsOf);
  const tolerations = taints.map(({ key, value = "", effect }) =>
    value === "" ? { key, operator: "Exists", effect } : { key, operator: "Equal", value, effect },
  );
  const distinct = new Map(tolerations.map((toleration) => [JSON.stringify(toleration), toleration]));
  return [...distinct].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, toleration]) => toleration);
}
