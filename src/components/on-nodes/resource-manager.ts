import type { KubeObject } from "../../api/index.ts";
import { poolsOf, type ControlPlaneContext } from "../context.ts";
import { mountFiles } from "../files.ts";
import { clusterRoleBinding } from "../rbac.ts";
import {
  configurationOf,
  PORTS,
  RESOURCE_MANAGER,
  RESOURCE_MANAGER_SERVER,
} from "../resource-manager/configuration.ts";
import { CONFIGURATION_PATH, resourceManagerObjects } from "../resource-manager/workload.ts";
import { HOST_PORTS } from "./host-ports.ts";
import { placed, type PodPlace } from "./place.ts";

/**
 * The resource manager of a self-hosted Shoot, which applies the ManagedResources of its control plane's namespace in the cluster that
 * it runs in, as an administrator, and asks for tokens of extensions. Certificates of nodes are the business of their own agents.
 */
export function resourceManagerOnNodes(context: ControlPlaneContext, place: PodPlace): KubeObject[] {
  const { namespace, images } = context;
  const ports = place === "host" ? HOST_PORTS["kube-system"] : PORTS;
  const configuration = configurationOf(
    {
      of: "shoot",
      namespace,
      pools: poolsOf(context),
      hasMachines: context.machines !== undefined,
      approvesItself: true,
    },
    ports,
  );
  const config = {
    name: `${RESOURCE_MANAGER}-config`,
    data: { "config.yaml": configuration },
    mountPath: CONFIGURATION_PATH,
  };
  const files = mountFiles(context, { [RESOURCE_MANAGER_SERVER]: ["tls.crt", "tls.key"] }, [config]);
  const workload = resourceManagerObjects({
    ...{ namespace, configuration, files, ports },
    image: images.resourceManager,
    priorityClassName: "system-cluster-critical",
    replicas: 1,
    configMap: config.name,
  });
  const account = { kind: "ServiceAccount", name: RESOURCE_MANAGER, namespace } as const;
  return [
    clusterRoleBinding("perennial:resource-manager-of-shoot", "cluster-admin", [account]),
    ...workload.map((object) => placed(object, place)),
  ];
}
