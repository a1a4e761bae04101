/** What a caller asks an object's controller to do; the controller removes it. */
export const OPERATION_ANNOTATION = "gardener.cloud/operation";

/** When the operation was asked for (RFC 3339 with nanoseconds, UTC): the request's identity. */
export const TIMESTAMP_ANNOTATION = "gardener.cloud/timestamp";

/** Must be "true" before a protected object may be deleted. */
export const CONFIRM_DELETION_ANNOTATION = "confirmation.gardener.cloud/deletion";

/** Must be "true" for a deletion that leaves infrastructure behind. */
export const FORCE_DELETION_ANNOTATION = "confirmation.gardener.cloud/force-deletion";

/** Comma separated names of tasks that the next run of a Shoot's flow is to do. */
export const TASKS_ANNOTATION = "shoot.gardener.cloud/tasks";

/** "true" leaves a Shoot alone: no operation of it begins, not even its deletion. */
export const IGNORE_ANNOTATION = "shoot.gardener.cloud/ignore";

/** "true" lets the next run skip its waits for readiness. */
export const SKIP_READINESS_ANNOTATION = "shoot.gardener.cloud/skip-readiness";

/** "true" deletes a Shoot without deleting the users' objects first, but for services and storage. */
export const SKIP_CLEANUP_ANNOTATION = "shoot.gardener.cloud/skip-cleanup";

/** On a Shoot: after how many seconds webhooks that are being deleted lose their finalizers. */
export const CLEANUP_WEBHOOKS_GRACE_ANNOTATION = "shoot.gardener.cloud/cleanup-webhooks-finalize-grace-period-seconds";

/** The same for custom resources, their definitions and aggregated APIs. */
export const CLEANUP_EXTENDED_APIS_GRACE_ANNOTATION =
  "shoot.gardener.cloud/cleanup-extended-apis-finalize-grace-period-seconds";

/** The same for everything else that users made. */
export const CLEANUP_KUBERNETES_RESOURCES_GRACE_ANNOTATION =
  "shoot.gardener.cloud/cleanup-kubernetes-resources-finalize-grace-period-seconds";

/** "true" on a Seed stops every operation of its Shoots. */
export const EMERGENCY_STOP_ANNOTATION = "shoot.gardener.cloud/emergency-stop-reconciliations";

/** The operation to run in the next maintenance time window. */
export const MAINTENANCE_OPERATION_ANNOTATION = "maintenance.gardener.cloud/operation";

/** On a ConfigMap of distances between regions: names of the CloudProfiles that it is for, separated by commas. */
export const REGION_PROFILES_ANNOTATION = "scheduling.gardener.cloud/cloudprofiles";

/** On a Shoot: when its life ends, which a Quota bounds (RFC 3339). */
export const EXPIRATION_ANNOTATION = "shoot.gardener.cloud/expiration-timestamp";

/** `maintenance` on a Shoot: its provider's webhook is to update the machine images, and takes the annotation away (GEP-1). */
export const MAINTENANCE_TRIGGER_ANNOTATION = "trigger.gardener.cloud";

/** On a Cluster: name of the Secret with the kubeconfig to which extensions add a token of their own. */
export const GENERIC_KUBECONFIG_ANNOTATION = "generic-token-kubeconfig.secret.gardener.cloud/name";

/** Who created the object. */
export const CREATED_BY_ANNOTATION = "gardener.cloud/created-by";

/** The number of the leader under which our flows wrote an object; on a Namespace, the lowest one that may still write there. */
export const EPOCH_ANNOTATION = "perennial.dev/epoch";

/** The epoch in an object's annotations; 0 for none, and for what is no number of at most 15 digits, as in the policies of deploy/. */
export function writtenEpoch(annotations: Readonly<Record<string, string>> | undefined): number {
  const text = annotations?.[EPOCH_ANNOTATION] ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

/** On a Shoot's namespace in a seed: which failure the control plane survives, `node` or `zone`; empty for none. */
export const FAILURE_TOLERANCE_ANNOTATION = "high-availability-config.resources.gardener.cloud/failure-tolerance-type";

/** On a namespace: the zones that its pods are to be in, with commas between them. */
export const ZONES_ANNOTATION = "high-availability-config.resources.gardener.cloud/zones";

/** On an extension object of a kind whose definition has no `spec.leadership`: that, as JSON. */
export const LEADERSHIP_ANNOTATION = "perennial.dev/leadership";

/** On a Shoot's namespace in a seed: name of the TXT record that says which seed leads. */
export const LEADERSHIP_RECORD_ANNOTATION = "perennial.dev/leadership-record";

/** On a Shoot's namespace in a seed: the epoch that a planned migration hands over to; its flow stops the control plane. */
export const HANDOVER_ANNOTATION = "perennial.dev/handover";

/** On a Shoot's namespace in a seed, beside the former: when the seed's worker last found that the migration goes on, RFC 3339. */
export const HANDOVER_RENEWED_ANNOTATION = "perennial.dev/handover-renewed";

/** "true" on a Shoot, together with its old seed's name: the migration that has begun is given up. */
export const CANCEL_MIGRATION_ANNOTATION = "perennial.dev/cancel-migration";

/** Approves a takeover from a seed that does not answer: JSON `{reason, by?, at?, sourceIsOff?}`. */
export const FORCE_TAKEOVER_ANNOTATION = "perennial.dev/force-takeover";

/** On a BackupEntry in a seed: files that its provider keeps, however old they are; names, separated by commas. */
export const KEPT_SNAPSHOTS_ANNOTATION = "perennial.dev/kept-snapshots";

/** On a ShootState: uid of the Shoot that it belongs to; also on a Shoot's namespace in a seed. */
export const SHOOT_UID_ANNOTATION = "shoot.gardener.cloud/uid";

/** On a ShootState: JSON list of the objects in which it goes on, because it is too large for one. */
export const STATE_PARTS_ANNOTATION = "perennial.dev/state-parts";

/** On a ShootState: ids of the keys that open it, those of the leading seed and of the garden, separated by commas. */
export const STATE_KEY_ANNOTATION = "perennial.dev/state-key";

/** On a ShootState: JSON of its data keys, each wrapped for those who may open it. */
export const DATA_KEYS_ANNOTATION = "perennial.dev/data-keys";

/** On a ShootState: why what it holds is not the latest; a Shoot with this cannot be migrated. */
export const STATE_PROBLEM_ANNOTATION = "perennial.dev/state-problem";

/** On a ShootState: an epoch that no Shoot had reached, and which the garden's worker has taken back. */
export const CORRECTED_EPOCH_ANNOTATION = "perennial.dev/corrected-epoch";

/** On a ShootState: the epoch whose last look at the seed it holds; what a watch there says of that epoch, it takes no more. */
export const STATE_FINAL_ANNOTATION = "perennial.dev/state-final";

/** On an extension object that an earlier epoch has left in a seed: what it says of its state is replaced by what is kept. */
export const STALE_ANNOTATION = "perennial.dev/stale";

/** On a Worker whose `status.state` is the machines that a Restore brings: the epoch under which they were given. */
export const MACHINE_STATE_ANNOTATION = "perennial.dev/machine-state";

/** On an object that a step waits for: JSON of the activities that wait, so that any worker can complete them. */
export const WAIT_ANNOTATION = "perennial.dev/wait";

/** On a Secret that was brought to a seed before its Shoot: SHA-256 of the content that was brought. */
export const PREPARED_ANNOTATION = "perennial.dev/prepared";

/** On a BackupEntry in the garden that is being deleted: when its Shoot was first found gone. Its grace period begins then. */
export const SHOOT_GONE_ANNOTATION = "perennial.dev/shoot-gone-since";

/** On a BackupEntry in the garden: the bucket that held the Shoot's backups before the one that its spec names. */
export const PREVIOUS_BUCKET_ANNOTATION = "perennial.dev/previous-bucket";

/** On a provider's BackupBucket: hash of what it was asked for last, credentials included. */
export const CHECKSUM_ANNOTATION = "perennial.dev/checksum";

/** On a Job: the record of the snapshot that it took, as JSON. */
export const SNAPSHOT_RECORD_ANNOTATION = "perennial.dev/snapshot-record";

/** On etcd's claim: what it is being made from, and for which leader. */
export const RESTORING_ANNOTATION = "perennial.dev/restoring-from";

/** On etcd's claim: the epoch under which it was made; etcd may have run on it since. */
export const RESTORED_ANNOTATION = "perennial.dev/restored-in-epoch";

/** On the claim of an etcd in a seed: why its data are to be replaced. An operator may write it to have that done. */
export const ETCD_DAMAGED_ANNOTATION = "perennial.dev/etcd-damaged";

/** On the claim of an etcd in a seed: the folders of its volume that have had its data, separated by commas; the first has them now. */
export const ETCD_DIRECTORIES_ANNOTATION = "perennial.dev/etcd-directories";

/** On the claim of an etcd in a seed: what its data were replaced by last, for people; they may remove it. */
export const ETCD_REPLACED_ANNOTATION = "perennial.dev/etcd-replaced";

/** On the Job of a restore: the claim, by uid, that it fills. */
export const VOLUME_ANNOTATION = "perennial.dev/volume";

/** On the Job of a repair: those before it that have failed, by uid and separated by commas; the last one first. */
export const FAILED_JOBS_ANNOTATION = "perennial.dev/failed-jobs";

/** On a Secret that names a DNS domain: the domain. */
export const DNS_DOMAIN_ANNOTATION = "dns.gardener.cloud/domain";

/** On a Secret that names a DNS domain: the type of the provider that serves it. */
export const DNS_PROVIDER_ANNOTATION = "dns.gardener.cloud/provider";

/** On a Deployment that dependency-watchdog has scaled down, because the Shoot's nodes cannot be reached. */
export const SCALED_DOWN_BY_WATCHDOG_ANNOTATION = "dependency-watchdog.gardener.cloud/meltdown-protection-active";

/** Kubernetes' own, on a pod that stands for a static one of its node; such a pod cannot be deleted. */
export const MIRROR_POD_ANNOTATION = "kubernetes.io/config.mirror";

/** On a static pod of a control plane, the SHA-256 of its manifest and files in hex: by it the node agent tells it from an earlier one. */
export const STATIC_POD_HASH_ANNOTATION = "gardener.cloud/config.mirror";

/** Kubernetes' own, on a PersistentVolumeClaim: the provisioner that is asked for its volume. */
export const PROVISIONER_ANNOTATION = "volume.kubernetes.io/storage-provisioner";

/** Kubernetes' own, on a PersistentVolume: the provisioner that made it. */
export const PROVISIONED_BY_ANNOTATION = "pv.kubernetes.io/provisioned-by";

/** On a Shoot: asks that all its kubeconfigs given out so far be worth nothing; on `<shoot>.kubeconfig`: the last such request that was met. */
export const KUBECONFIG_REVOCATION_ANNOTATION = "perennial.dev/kubeconfig-revocation";

/** On `<shoot>.kubeconfig`: until when its token is good (RFC 3339). */
export const KUBECONFIG_EXPIRY_ANNOTATION = "perennial.dev/kubeconfig-expires-at";

/**
 * "true" on a Seed: each of its Shoots gets a resource manager; on a Shoot: this one does; on the Namespace `garden` of a seed:
 * the seed itself does, with its first extension. "false" on a ControllerRegistration: its controller needs none beside Shoots.
 */
export const RESOURCE_MANAGER_ANNOTATION = "perennial.dev/resource-manager";

/**
 * On a Seed or a Shoot, "true": machine-controller-manager makes machines, also for extensions that we have not installed. On a
 * ControllerRegistration, "false": its Worker controller makes machines itself.
 */
export const MACHINE_CONTROLLER_MANAGER_ANNOTATION = "perennial.dev/machine-controller-manager";

/**
 * On a Seed, "false": it reaches the nodes, pods and Services of its Shoots, whose API servers need no tunnel. On a Shoot, "true" or
 * "false": it has one or has none, whatever its Seed says.
 */
export const TUNNEL_ANNOTATION = "perennial.dev/tunnel";

/** Upstream's, "true" on a ManagedResource: the resource manager leaves it, and what it has applied, alone. */
export const IGNORE_RESOURCE_ANNOTATION = "resources.gardener.cloud/ignore";

/** On an object that a resource manager has applied: `true` leaves it where it is when its ManagedResource goes. */
export const KEEP_OBJECT_ANNOTATION = "resources.gardener.cloud/keep-object";

/** On a ManagedResource: that it is to be ignored is ours to say, and to take back. */
export const STOPPED_ANNOTATION = "perennial.dev/stopped";

/** On a Namespace with Clusters: the namespace of the project in the garden that their Shoots are in. Where it is the garden's, that is itself. */
export const PROJECT_NAMESPACE_ANNOTATION = "perennial.dev/project-namespace";

/** On a Shoot that stands for a control plane of Cluster API: the names of the workers that MachinePools own, separated by commas. */
export const OWNED_WORKERS_ANNOTATION = "perennial.dev/owned-workers";

/** On pods of the local provider: what changes with their image's content, whose name stays. */
export const IMAGE_CONTENT_ANNOTATION = "perennial.dev/image-content";

/** On such a Shoot: SHA-256 of all that objects of Cluster API want it to say, so that what they say no more is taken away. */
export const COMPOSED_ANNOTATION = "perennial.dev/composed";

/** On a CustomResourceDefinition, for a moment: an API server looks again at one that changes. */
export const AWAITED_ANNOTATION = "perennial.dev/awaited";

/** What annotations, labels and finalizers of ours begin with. */
export const OWN_PREFIX = "perennial.dev/";

/** Whether an annotation or a label is ours rather than Gardener's or a user's. */
export const isOwnKey = (key: string): boolean => key.startsWith(OWN_PREFIX);

/** Whether the domain of a key is ours or Gardener's: by such annotations users ask for operations, and approve them. */
export const isReservedKey = (key: string): boolean =>
  /(?:^|[.])(?:perennial[.]dev|gardener[.]cloud)$/.test(key.replace(/[/].*$/s, ""));

/** On the Secret that the agents of a pool read: SHA-256 of the configuration in it. */
export const MACHINE_CHECKSUM_ANNOTATION = "checksum/data-script";

/** On the Secret of a self-hosted control plane's pool: SHA-256 of the workloads that its static pods were made from. */
export const WORKLOADS_CHECKSUM_ANNOTATION = "perennial.dev/workloads-checksum";

/** On a Node: the checksum of the configuration that its machine was made last, as its agent has found it in the Secret. */
export const APPLIED_CHECKSUM_ANNOTATION = "checksum/cloud-config-data";

/** Upstream's, on the Secret that the agents of a pool read: one node after the other takes the change over. */
export const SERIAL_ANNOTATION = "reconciliation.osc.node-agent.gardener.cloud/serial";
