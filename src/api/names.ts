/** Finalizer of the objects that our garden controllers and flows are in charge of. */
export const GARDENER_FINALIZER = "gardener";

/** Finalizer of a Secret that a SecretBinding names. */
export const SECRET_BINDING_FINALIZER = "gardener.cloud/secretbinding";

/** Finalizer of a Secret that a CredentialsBinding names. */
export const CREDENTIALS_BINDING_FINALIZER = "gardener.cloud/credentialsbinding";

/** Finalizer of a ShootState while a migration needs it. */
export const SHOOT_STATE_FINALIZER = "core.gardener.cloud/shootstate";

/** Finalizer that an extension controller puts on an object of this kind, which the caller gives as upstream's lower-case name. */
export const extensionFinalizer = (name: string): string => `extensions.gardener.cloud/${name}`;

/** The reporter of the Events that a seed's worker writes when it fences a Shoot. */
export const FENCE_CONTROLLER = "perennial.dev/fence";

/** The reporter of the manager's Events. */
export const MANAGER_CONTROLLER = "perennial.dev/manager";

/** The process `cluster-api`, as the reporter of Events about Cluster API's objects. */
export const CLUSTER_API_CONTROLLER = "perennial.dev/cluster-api";

/** The reporter of the Events in which the garden's worker tells what becomes of a Shoot. */
export const GARDEN_WORKER_CONTROLLER = "perennial.dev/worker-garden";

/** How a seed's worker signs the Events that it writes about its Shoots. */
export const SEED_WORKER_CONTROLLER = "perennial.dev/worker-seed";

/** The provisioner of the local environment's volumes. */
export const LOCAL_PROVISIONER = "perennial.dev/local";

/** The namespace in the garden of the seeds' identities: a service account for each Seed, of the Seed's name. */
export const SEED_IDENTITIES_NAMESPACE = "perennial-seeds";

/** The namespace of Gardener's own objects, in gardens and seeds. */
export const GARDEN_NAMESPACE = "garden";

/** The namespace of a cluster's own system: that of a seed, or the control plane of a self-hosted Shoot. */
export const SYSTEM_NAMESPACE = "kube-system";

/** Name of the Secret in a seed with the credentials for a BackupEntry, which it is made with. */
export const backupEntrySecretName = (entry: string): string => `${ENTRY}${entry}`;

/** The BackupEntry whose credentials are in a Secret of this name. */
export const entryOfSecret = (secret: string): string =>
  secret.startsWith(ENTRY) ? secret.slice(ENTRY.length) : secret;

const ENTRY = "entry-";

/** Name of the Secret in a seed with the credentials for a BackupBucket, which it is made with. */
export const backupBucketSecretName = (bucket: string): string => `bucket-${bucket}`;

/** Name of the Secret in the garden with the credentials that came with a bucket. */
export const generatedSecretName = (bucket: string): string => `bucket-${bucket}-generated`;

/** Name of a Shoot's copy, in its seed, of a Secret or ConfigMap of the garden that its spec names. */
export const referencedResourceName = (name: string): string => `ref-${name}`;

/** Name of the Secret in the garden with a Shoot's kubeconfig. */
export const kubeconfigSecretName = (shoot: string): string => `${shoot}.kubeconfig`;

/** Name of the Secret beside a control plane with the key pair for logins on the Shoot's nodes. */
export const SSH_KEY_PAIR = "ssh-keypair";

/** Name, before its hash, of the Secret beside a control plane with the kubeconfig that lacks only a token. */
export const GENERIC_KUBECONFIG = "generic-token-kubeconfig";

/** Names of the ConfigMaps in the garden with a Shoot's authorities, by the authority's name. */
export const authorityNames = (shoot: string) => ({ ca: `${shoot}.ca-cluster`, "ca-kubelet": `${shoot}.ca-kubelet` });

/** Name of the Secret in the garden with the key pair for logins on a Shoot's nodes. */
export const sshKeyPairName = (shoot: string): string => `${shoot}.${SSH_KEY_PAIR}`;

/**
 * Names of the objects that a Shoot's ShootState may go on in. There are twice as many as a state needs, so that a new
 * version has room beside the old one; they are known, so that a seed can be given rights on them and on no others.
 */
export const statePartNames = (shoot: string): readonly string[] =>
  [..."0123456789abcdef"].map((digit) => `${shoot}--${digit}`);

/** The name of a project that a namespace of the garden would be of by its own name; which one it is of, `readNamespaceProject` says. */
export function projectOf(namespace: string): string {
  return namespace.replace(/^garden-/, "");
}

/** The name of a Shoot's namespace in its seed, until its status says another. */
export function technicalIDOf(project: string, shoot: string): string {
  return `shoot--${project}--${shoot}`;
}

/** Finalizer of a ControllerInstallation that Perennial has installed, until nothing of it is left in the seed. */
export const INSTALLATION_FINALIZER = "core.gardener.cloud/controllerinstallation";

/** The namespace in a seed in which the controller of an installation runs. */
export const installationNamespace = (installation: string): string => `extension-${installation}`;

/** The namespace in the garden of the identities of extensions that are installed in seeds: a service account for each. */
export const EXTENSION_IDENTITIES_NAMESPACE = "perennial-extensions";

/** The service account in {@link EXTENSION_IDENTITIES_NAMESPACE} of the controller of an installation. */
export const installationAccount = (installation: string): string => `extension-${installation}`;

/** Finalizer of a ControllerRegistration, as long as there are installations of it. */
export const REGISTRATION_FINALIZER = "core.gardener.cloud/controllerregistration";

/** Finalizer of a ShootControlPlane and of ShootMachinePools, until what stands behind them in the garden has gone. */
export const SHOOT_FINALIZER = "cluster-api.perennial.dev/shoot";

/** Finalizer of an EndpointRecord, until its name is out of the DNS. */
export const ENDPOINT_RECORD_FINALIZER = "cluster-api.perennial.dev/endpoint-record";

/** Name of the Secret and of the CredentialsBinding in the garden with what a ShootCluster brings for this Shoot. */
export const infrastructureCredentialsName = (shoot: string): string => `cluster-api-${shoot}`;

/** Finalizer of a ShootCluster, until what it has in the garden has gone. */
export const INFRASTRUCTURE_FINALIZER = "cluster-api.perennial.dev/infrastructure";

/** Where upstream mounts the kubeconfig for the garden into the pods of extensions. */
export const GARDEN_KUBECONFIG_FOLDER = "/var/run/secrets/gardener.cloud/garden/generic-kubeconfig";

/** Where upstream mounts the kubeconfig for the Shoot into pods of its control plane; containers that providers add mount it, too. */
export const SHOOT_KUBECONFIG_FOLDER = "/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig";

/** A taint of Seeds that take only Shoots which tolerate it. */
export const PROTECTED_TAINT = "seed.gardener.cloud/protected";

/** The release of Gardener whose programs run beside ours, whose charts know our values, and whose contract Perennial keeps. */
export const GARDENER_VERSION = "v1.150.0";

/** The condition of a Cluster that says whether its endpoint is surfaced and serves; for `spec.availabilityGates`. */
export const ENDPOINT_READY_CONDITION = "perennial.dev/EndpointReady";

/** The group, besides `system:bootstrappers`, that the bearers of a bootstrap token are in, by what the token lets join. */
export const BOOTSTRAPPER_GROUPS = {
  worker: "system:bootstrappers:gardenadm:worker",
  "control-plane": "system:bootstrappers:gardenadm:control-plane",
} as const;

/** The kubeconfig of an administrator, on each node of a control plane (paths of kubeadm and GEP-28). */
export const ADMIN_KUBECONFIG = "/etc/kubernetes/admin.conf";

/** The same for machines elsewhere, where the control plane is exposed. */
export const EXPOSED_KUBECONFIG = "/etc/kubernetes/admin-exposed.conf";

/** How the agent of a self-hosted Shoot's node signs the Events that it writes. */
export const NODE_AGENT_CONTROLLER = "perennial.dev/node-agent";

/** The image of which machines of self-hosted Shoots take gardenadm; its tag is this package's version. */
export const GARDENADM_IMAGE = "perennial.dev/gardenadm:0.1.0";

/** How lines of ours in `/etc/hosts` end, which name the API servers of a self-hosted Shoot. */
export const API_SERVER_MARK = " # API server";

/** What a node of a self-hosted Shoot is for, and so what its machine may read. */
export type NodeRole = keyof typeof BOOTSTRAPPER_GROUPS;

/** The group of all node agents, as upstream. */
export const NODE_AGENTS_GROUP = "gardener.cloud:node-agents";

/** The group that the agents of a self-hosted Shoot's nodes are in besides, by what their node is for. */
export const NODE_AGENT_GROUPS: Readonly<Record<NodeRole, string>> = {
  worker: "gardener.cloud:node-agents:worker",
  "control-plane": "gardener.cloud:node-agents:control-plane",
};

/** The user that a node's agent is, as upstream: this, and the name of its machine. */
export const NODE_AGENT_USER_PREFIX = "gardener.cloud:node-agent:machine:";

/** The name, in kube-system, of the Lease by which a node's agent says that it is at work, as upstream. */
export const nodeAgentLeaseName = (node: string): string => `gardener-node-agent-${node}`;

/** The name, in kube-system, of the Lease that the agents of a pool hold in turn; no node is called so. */
export const serialLeaseName = (pool: string): string => nodeAgentLeaseName(`${SERIAL_NAME_PREFIX}${pool}`);

/** The beginning of names that no node may have: Leases of pools begin with it. */
export const SERIAL_NAME_PREFIX = "serial-";

/** The unit of a machine's kubelet, by upstream's name. */
export const KUBELET_UNIT = "kubelet.service";

/** The unit of a machine's node agent, by upstream's name. */
export const NODE_AGENT_UNIT = "gardener-node-agent.service";

/** The unit that makes certificates of the control plane anew and rolls them out: program `gardenadm/renewal`. */
export const RENEWAL_UNIT = "gardenadm-renewal.service";

/** What the controller of the BackupEntry makes in the Shoot's namespace, for pods to reach the backups: a claim, or a Secret. */
export const BACKUP_PLACE = "etcd-backup";
