/** Cluster API's own kinds as far as we read them, its names, and the kinds that we add to it. */
export * from "./names.ts";
export { condition, conditions, type Condition } from "./condition.ts";
export { apiGroupOf, contractReference, refersTo, templateReference, type ContractReference } from "./references.ts";
export { Cluster } from "./cluster.ts";
export { ClusterClass } from "./cluster-class.ts";
export { Machine } from "./machine.ts";
export { MachinePool } from "./machine-pool.ts";
export { clusterApiResources } from "./resources.ts";
export { ClusterEndpoint, endpointTypes, surfaces, type EndpointType, type EndpointTypes } from "./cluster-endpoint.ts";
export { EndpointRecord } from "./endpoint-record.ts";
export { ShootControlPlane, ShootControlPlaneTemplate } from "./shoot-control-plane.ts";
export { ShootCluster, ShootClusterTemplate } from "./shoot-cluster.ts";
export { ShootMachinePool, ShootMachinePoolTemplate } from "./shoot-machine-pool.ts";
export { ShootBootstrapConfig, ShootBootstrapConfigTemplate } from "./shoot-bootstrap-config.ts";
export type { ControlPlaneEndpoint } from "./provider-kind.ts";
