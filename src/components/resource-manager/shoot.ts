import type { KubeObject } from "../../api/index.ts";
import { poolsOf, replicasOf, type ControlPlaneContext } from "../context.ts";
import { mountFiles } from "../files.ts";
import { configurationOf, RESOURCE_MANAGER, RESOURCE_MANAGER_SERVER } from "./configuration.ts";
import { CONFIGURATION_PATH, resourceManagerObjects } from "./workload.ts";

/** Cluster role, from deploy/seed/worker-rbac.yaml, of what a Shoot's resource manager does in the Shoot's namespace. */
const ROLE = "perennial:resource-manager";

/** The resource manager that applies in the Shoot what the ManagedResources of its namespace in the seed say. */
export function shootResourceManager(context: ControlPlaneContext): KubeObject[] {
  const { namespace, images } = context;
  const configuration = configurationOf({
    of: "shoot",
    namespace,
    kubeconfig: RESOURCE_MANAGER,
    pools: poolsOf(context),
    hasMachines: context.machines !== undefined,
    approvesItself: false,
  });
  const config = {
    name: `${RESOURCE_MANAGER}-config`,
    data: { "config.yaml": configuration },
    mountPath: CONFIGURATION_PATH,
  };
  const secrets = { [RESOURCE_MANAGER]: "all", [RESOURCE_MANAGER_SERVER]: ["tls.crt", "tls.key"] } as const;
  const files = mountFiles(context, secrets, [config]);
  const workload = resourceManagerObjects({
    ...{ namespace, configuration, files },
    image: images.resourceManager,
    priorityClassName: "gardener-system-400",
    replicas: replicasOf(context),
    configMap: config.name,
  });
  return [binding(namespace), ...workload];
}

function binding(namespace: string): KubeObject {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: RESOURCE_MANAGER, namespace },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: ROLE },
    subjects: [{ kind: "ServiceAccount", name: RESOURCE_MANAGER, namespace }],
  };
}
