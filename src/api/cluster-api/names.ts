/** On everything that belongs to a Cluster: the Cluster's name. */
export const CLUSTER_NAME_LABEL = "cluster.x-k8s.io/cluster-name";

/** On a Machine: it is one of its Cluster's control plane. */
export const CONTROL_PLANE_LABEL = "cluster.x-k8s.io/control-plane";

/** On a CustomResourceDefinition, `<this>/<contract>`: the versions of the kind that keep that contract, joined by `_`. */
export const CONTRACT_LABEL_PREFIX = "cluster.x-k8s.io";

/** On a CustomResourceDefinition: the objects of the kind go along when `clusterctl move` takes their Cluster away. */
export const CLUSTERCTL_LABEL = "clusterctl.cluster.x-k8s.io";

/** On an object or a CustomResourceDefinition: `clusterctl move` takes the objects along, also those that it does not own. */
export const CLUSTERCTL_MOVE_LABEL = "clusterctl.cluster.x-k8s.io/move";

/** On an object: its controller changes nothing about it. */
export const PAUSED_ANNOTATION = "cluster.x-k8s.io/paused";

/** On an infrastructure object: a system outside of Cluster API keeps it, and its controller leaves it alone. */
export const MANAGED_BY_ANNOTATION = "cluster.x-k8s.io/managed-by";

/** On a pool: what decides about its replicas in place of the pool's owner. */
export const REPLICAS_MANAGED_BY_ANNOTATION = "cluster.x-k8s.io/replicas-managed-by";

/** On an object that `clusterctl move` has created elsewhere and deletes here; it takes the place of all other annotations. */
export const DELETE_FOR_MOVE_ANNOTATION = "clusterctl.cluster.x-k8s.io/delete-for-move";

/** On an object: `clusterctl move` waits until it is gone. */
export const BLOCK_MOVE_ANNOTATION = "clusterctl.cluster.x-k8s.io/block-move";

/** On a Cluster: the control plane's own condition Available, as the core manager copies it. */
export const CONTROL_PLANE_AVAILABLE_CONDITION = "ControlPlaneAvailable";

/** The type of Secrets that core reads, such as `<cluster>-kubeconfig`. */
export const CLUSTER_SECRET_TYPE = "cluster.x-k8s.io/secret";

/** On what a topology has made for a pool: the pool's name in the topology. */
export const TOPOLOGY_POOL_LABEL = "topology.cluster.x-k8s.io/pool-name";

/** Name of the Secret with the kubeconfig of a Cluster (contract: "Cluster kubeconfig"). */
export const clusterKubeconfigName = (cluster: string): string => `${cluster}-kubeconfig`;
