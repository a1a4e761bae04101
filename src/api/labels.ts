/** The purpose of an object, such as `shoot` or `extension` on a namespace. */
export const ROLE_LABEL = "gardener.cloud/role";

/** Upstream's, on a pod: the resource manager mounts no token into it. */
export const NO_TOKEN_LABEL = "projected-token-mount.resources.gardener.cloud/skip";

/** Upstream's, on a pod: the resource manager leaves alone on which nodes it runs. */
export const NO_SYSTEM_COMPONENTS_CONFIG_LABEL = "system-components-config.resources.gardener.cloud/skip";

/** What a Secret is for, such as `cloudprovider`. */
export const PURPOSE_LABEL = "gardener.cloud/purpose";

/** `region-config` on a ConfigMap of distances between regions, which the scheduler reads. */
export const SCHEDULING_PURPOSE_LABEL = "scheduling.gardener.cloud/purpose";

/** Kubernetes' own, on each namespace: its name. */
export const NAMESPACE_NAME_LABEL = "kubernetes.io/metadata.name";

/** The project of a namespace in the garden. */
export const PROJECT_NAME_LABEL = "project.gardener.cloud/name";

/** CustomResourceDefinitions of which objects need a confirmation to be deleted. */
export const DELETION_PROTECTED_LABEL = "gardener.cloud/deletion-protected";

/** A Shoot's health in one word, for columns and selectors. */
export const SHOOT_STATUS_LABEL = "shoot.gardener.cloud/status";

/** On what belongs to a Shoot in the garden: the Shoot's name. */
export const SHOOT_NAME_LABEL = "shoot.gardener.cloud/name";

/** On what belongs to a Shoot in the garden: the Shoot's uid. */
export const SHOOT_UID_LABEL = "shoot.gardener.cloud/uid";

/** "true" on what upstream's API server lets only Gardener change. */
export const UPDATE_RESTRICTION_LABEL = "gardener.cloud/update-restriction";

/** `shoot-ca` on a ConfigMap with a Shoot's authority, which upstream's discovery server publishes. */
export const DISCOVERY_LABEL = "discovery.gardener.cloud/public";

/** "true" on an object of a Shoot's cluster that the flows put there: the clean-up of the user's objects leaves it alone. */
export const NO_CLEANUP_LABEL = "shoot.gardener.cloud/no-cleanup";

/** On an object of a Shoot's cluster: the manager of ManagedResources that put it there, and takes it away. */
export const MANAGED_BY_LABEL = "resources.gardener.cloud/managed-by";

/** "true" on a Secret that cannot be made again: the mirror keeps it in the ShootState. */
export const PERSIST_LABEL = "persist";

/** On a Shoot's namespace in a seed: the seed's provider type. */
export const SEED_PROVIDER_LABEL = "seed.gardener.cloud/provider";

/** On a Shoot's namespace in a seed: the Shoot's provider type. */
export const SHOOT_PROVIDER_LABEL = "shoot.gardener.cloud/provider";

/** On a Shoot's namespace in a seed: the Shoot's network type. */
export const NETWORKING_PROVIDER_LABEL = "networking.shoot.gardener.cloud/provider";

/** On a Shoot's namespace in a seed: the provider type of its backups. */
export const BACKUP_PROVIDER_LABEL = "backup.gardener.cloud/provider";

/** `privileged` on a Shoot's namespace in a seed: its pods are Gardener's, and the seed's own limits for users' pods are not for them. */
export const POD_SECURITY_LABEL = "pod-security.kubernetes.io/enforce";

/** "true" on a Shoot's namespace in a seed: resource managers look at how its workloads are to be spread. */
export const HIGH_AVAILABILITY_LABEL = "high-availability-config.resources.gardener.cloud/consider";

/** On a Shoot's namespace in a seed: "true" for each Extension of this type that the Shoot has. */
export const extensionLabel = (type: string): string => `extensions.gardener.cloud/${type}`;

/** "true" on a Shoot for each type of extension that serves it, such as `networking` of type `calico`: admission webhooks select by it. */
export const servedByLabel = (group: string, type: string): string => `${group}.extensions.gardener.cloud/${type}`;

/** "true" on what the control-plane webhooks of Gardener's provider extensions may change: they select by it. */
export const WEBHOOK_TARGET_LABEL = "provider.extensions.gardener.cloud/mutated-by-controlplane-webhook";

/** "allowed" on a pod in a Shoot's namespace: it may talk to this destination, such as `to-dns`. */
export const destinationLabel = (destination: string): string => `networking.gardener.cloud/${destination}`;

/** "allowed" on a pod in a Shoot's namespace: it may talk to a port of a Service there, such as `to-kube-apiserver-tcp-443`. */
export const serviceAccessLabel = (service: string): string => `networking.resources.gardener.cloud/${service}`;

/** "allowed" on a pod in a Shoot's `kube-system`: the control plane may talk to it, by the tunnel. */
export const FROM_SEED_LABEL = "networking.gardener.cloud/from-seed";

/** The worker pool of a node, and of what is made for its machines. */
export const POOL_LABEL = "worker.gardener.cloud/pool";

/** The same, by the name that it had before; extensions select by both. */
export const FORMER_POOL_LABEL = "worker.garden.sapcloud.io/group";

/** "true" on a node whose pool has a container runtime of this type. */
export const runtimeLabel = (type: string): string => `containerruntime.worker.gardener.cloud/${type}`;

/** The machine image of a node's pool. */
export const POOL_IMAGE_NAME_LABEL = "worker.gardener.cloud/image-name";

/** The version of the machine image of a node's pool. */
export const POOL_IMAGE_VERSION_LABEL = "worker.gardener.cloud/image-version";

/** The container runtime of a node's pool. */
export const POOL_CRI_LABEL = "worker.gardener.cloud/cri-name";

/** Whether a node answers DNS queries of its pods itself. */
export const NODE_LOCAL_DNS_LABEL = "networking.gardener.cloud/node-local-dns-enabled";

/** The name of the machine that a node is, from machine-controller-manager. */
export const NODE_MACHINE_LABEL = "node.gardener.cloud/machine-name";

/** "true" on a node whose pool may run system components. */
export const POOL_SYSTEM_COMPONENTS_LABEL = "worker.gardener.cloud/system-components";

/** The Kubernetes version of a node's pool. */
export const POOL_KUBERNETES_VERSION_LABEL = "worker.gardener.cloud/kubernetes-version";

/** The name of the Secret that a node's agent reads its configuration from. */
export const POOL_AGENT_SECRET_LABEL = "worker.gardener.cloud/gardener-node-agent-secret-name";

/** `disabled` where a Shoot has no kube-proxy: no node carries it, so that the DaemonSet has no pods. */
export const KUBE_PROXY_LABEL = "perennial.dev/kube-proxy";

/** Why a Job takes a snapshot: `scheduled` or `requested`. */
export const SNAPSHOT_LABEL = "perennial.dev/snapshot";

/** On an object in which a ShootState goes on: the ShootState's name. */
export const STATE_PART_LABEL = "perennial.dev/part-of-state";

/** On a local machine that is a Shoot's: the Shoot's namespace in the seed. */
export const MACHINE_NAMESPACE_LABEL = "perennial.dev/namespace";

/** On a local machine: the Shoot's worker pool. */
export const MACHINE_POOL_LABEL = "perennial.dev/pool";

/** On a local machine: the hash of what its pool asked for when the machine was made. */
export const MACHINE_POOL_HASH_LABEL = "perennial.dev/pool-hash";

/** On a local machine that is a seed's node: the seed's name. */
export const MACHINE_SEED_LABEL = "perennial.dev/seed";

/** On a Secret in a seed with the credentials of a BackupEntry: the namespace of that entry in the garden. */
export const GARDEN_NAMESPACE_LABEL = "perennial.dev/garden-namespace";

/** On a Secret in a seed with the credentials of a BackupBucket: the bucket's name. */
export const BACKUP_BUCKET_LABEL = "perennial.dev/backup-bucket";

/** On the roles and bindings of seeds in the garden: the object that they give rights on, such as `shoot.<uid>`. */
export const SEED_ACCESS_LABEL = "perennial.dev/seed-access";

/** The ControllerRegistration of an installation, and of the namespace in a seed in which its controller runs. */
export const REGISTRATION_LABEL = "controllerregistration.core.gardener.cloud/name";

/** On what belongs to a ControllerInstallation, in the seed and in the garden: the installation's name. */
export const INSTALLATION_LABEL = "controllerinstallation.core.gardener.cloud/name";

/** On a ControllerInstallation: its Seed, by which a seed's worker finds its own. */
export const INSTALLATION_SEED_LABEL = "perennial.dev/seed-of-installation";

/** On a ControllerInstallation: hash of its ControllerRegistration's spec; another value is another roll-out. */
export const REGISTRATION_HASH_LABEL = "registration-spec-hash";

/** On a ControllerInstallation: hash of its Seed, as far as charts are told of it. */
export const SEED_HASH_LABEL = "seed-spec-hash";

/** On a ControllerInstallation: hash of its ControllerDeployment. */
export const DEPLOYMENT_HASH_LABEL = "deployment-hash";

/** On a Secret that a resource manager looks after: what for, such as `token-requestor`. */
export const ACCESS_PURPOSE_LABEL = "resources.gardener.cloud/purpose";

/** On such a Secret: whose resource manager does, such as `shoot`. */
export const ACCESS_CLASS_LABEL = "resources.gardener.cloud/class";

/** On a ShootControlPlane, and on the Shoot that stands for it: the control plane's first uid. It outlives `clusterctl move`. */
export const CONTROL_PLANE_ID_LABEL = "perennial.dev/control-plane-id";

/** On a ShootControlPlane: the uid of its Shoot, once that was there. While it stays, no other Shoot is made. */
export const CONTROL_PLANE_SHOOT_LABEL = "perennial.dev/shoot-uid";

/** On a ShootCluster, and on what it has in the garden: the ShootCluster's first uid. It outlives `clusterctl move`. */
export const INFRASTRUCTURE_ID_LABEL = "perennial.dev/infrastructure-id";

/** "true" on a Secret of a management cluster: ShootClusters of its namespace may have it copied into their project in the garden. */
export const GARDEN_CREDENTIALS_LABEL = "perennial.dev/garden-credentials";

/** On a ShootControlPlane or a ShootCluster: the project namespace in the garden that its Shoot is in, from the first look on. */
export const PROJECT_NAMESPACE_LABEL = "perennial.dev/project-namespace";

/** On a MachinePool: what its annotation `cluster.x-k8s.io/replicas-managed-by` says, which a `clusterctl move` that is killed takes away. */
export const REPLICAS_MANAGED_BY_LABEL = "perennial.dev/replicas-managed-by";

/** On an infrastructure object: what its annotation `cluster.x-k8s.io/managed-by` says, as above. */
export const MANAGED_ELSEWHERE_LABEL = "perennial.dev/managed-by";

/** On a DNSRecord that stands for an EndpointRecord of the same name: the uid for which it was made. */
export const ENDPOINT_RECORD_LABEL = "perennial.dev/endpoint-record";

/** On a ClusterEndpoint that was generated: what from, `user` or `provider`. */
export const GENERATED_LABEL = "perennial.dev/generated";

/** On a ClusterEndpoint that was generated: hash of the host and port that it got, which tells whether it was edited since. */
export const GENERATED_VALUE_LABEL = "perennial.dev/generated-value";

/** "true" on a Cluster whose endpoint was written from a ClusterEndpoint: what it says later is nothing that a user wrote first. */
export const SURFACED_LABEL = "perennial.dev/endpoint-surfaced";

/** On Nodes that carry the control plane of their own cluster; as the key of a taint, it keeps all else away from them. */
export const CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane";

/** On the Lease of a node's agent: what the node is for (worker or control-plane), from before its first certificate. */
export const NODE_ROLE_LABEL = "node.perennial.dev/role";

/** On Jobs that print the status of a Shoot's etcds: the CronJob that they are made from. */
export const ETCD_CHECK_LABEL = "perennial.dev/etcd-check";
