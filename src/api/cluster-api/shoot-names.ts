/** The type of Secrets that core reads, such as `<cluster>-kubeconfig`. */
export const CLUSTER_SECRET_TYPE = "cluster.x-k8s.io/secret";

/** On what a topology has made for a pool: the pool's name in the topology. */
export const TOPOLOGY_POOL_LABEL = "topology.cluster.x-k8s.io/pool-name";

/** Name of the Secret with the kubeconfig of a Cluster (contract: "Cluster kubeconfig"). */
export const clusterKubeconfigName = (cluster: string): string => `${cluster}-kubeconfig`;
