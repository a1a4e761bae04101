import type { Resource } from "../schema/resource.ts";
import { ClusterEndpoint } from "./cluster-endpoint.ts";
import { EndpointRecord } from "./endpoint-record.ts";
import { ShootBootstrapConfig, ShootBootstrapConfigTemplate } from "./shoot-bootstrap-config.ts";
import { ShootCluster, ShootClusterTemplate } from "./shoot-cluster.ts";
import { ShootControlPlane, ShootControlPlaneTemplate } from "./shoot-control-plane.ts";
import { ShootMachinePool, ShootMachinePoolTemplate } from "./shoot-machine-pool.ts";

/** Our own kinds beside those of Cluster API, in the order of their documentation; a management cluster serves them. */
export const clusterApiResources: readonly Resource[] = [
  ClusterEndpoint,
  EndpointRecord,
  ShootControlPlane,
  ShootControlPlaneTemplate,
  ShootCluster,
  ShootClusterTemplate,
  ShootMachinePool,
  ShootMachinePoolTemplate,
  ShootBootstrapConfig,
  ShootBootstrapConfigTemplate,
];
