/** Cluster API's own kinds as far as we read them, its names, and the kinds that we add to it. */
export * from "./names.ts";
export { condition, conditions, type Condition } from "./condition.ts";
export { contractReference, templateReference, type ContractReference } from "./references.ts";
export { Cluster } from "./cluster.ts";
export { ClusterClass } from "./cluster-class.ts";
export { Machine } from "./machine.ts";
export { MachinePool } from "./machine-pool.ts";
