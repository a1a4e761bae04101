import type { StartAction } from "./start-control-plane.ts";

/** What a row writes, also by the programs that it starts. */
export interface Writes {
  /** Patterns of `path.matchesGlob`; a folder ends with a slash, and all below it is meant. FOLDER is the configuration's. */
  readonly paths?: readonly string[];
  /** Kinds by their namespace; those of the whole cluster are under `""`. */
  readonly objects?: Readonly<Record<string, readonly string[]>>;
  /** What only others can name. */
  readonly besides?: string;
  /** It does so only where this holds. */
  readonly when?: string;
  /** Not only while the row runs: what it has started goes on doing so. */
  readonly fromThenOn?: true;
}

const UNITS = [
  "{containerd-logrotate,gardenadm-renewal,gardener-node-agent,gardener-node-init,gardener-user,kubelet,name-api-servers,sshd-ensurer,updatecacerts}.service",
  "containerd-logrotate.timer",
  "gardener-user.path",
  "multi-user.target.wants/",
];

const AGENT: Writes = {
  fromThenOn: true,
  paths: ["/var/cache/gardenadm/"],
  objects: { "": ["CertificateSigningRequest", "Cluster", "Node"], "kube-system": ["Lease"] },
};

/** What the rows of `startControlPlane` write. */
export const startWrites: Readonly<Record<StartAction, readonly Writes[]>> = {
  preflight: [],
  config: [
    {
      paths: [
        "/var/lib/gardenadm/{config-directory,journal,lock,node-ip,shoot-uid}",
        "/var/lib/gardenadm/pod-network-before/",
      ],
    },
    { paths: ["/var/lib/kubelet/extra_args"], when: "the pool has zones" },
  ],
  secrets: [{ paths: ["/var/lib/gardenadm/cluster/"] }],
  machineConfig: [{ paths: ["/var/lib/gardenadm/cluster/"] }],
  machine: [
    {
      paths: [
        "/etc/kubernetes/admin.conf",
        "/etc/kubernetes/kubelet.conf.d/00-shoot.conf",
        "/etc/kubernetes/manifests/{etcd-events,etcd-main,kube-apiserver}.yaml",
        ...UNITS.map((unit) => `/etc/systemd/system/${unit}`),
        "/etc/systemd/{containerd,journald}.conf",
        "/etc/sysctl.d/99-k8s-general.conf",
        "/etc/hosts",
        "/etc/{group,gshadow,passwd,shadow,subgid,subuid}{,-}",
        "/etc/sudoers.d/99-gardener-user",
        "/etc/pki/trust/anchors/",
        "/etc/ssl/certs/",
        "/home/gardener/",
        "/opt/bin/{etcdctl,etcdutl,kubelet}",
        "/var/lib/{ca-certificates-local,gardener-node-agent,gardener-user,sshd-ensurer,ssl}/",
        "/var/lib/{gardener-user-authorized-keys,containerd-logrotate.status}",
        "/var/lib/systemd/timers/",
        "/var/lib/{etcd-events,etcd-main,kubelet,static-pods}/",
        "/var/log/{containers,pods}/",
      ],
    },
    { paths: ["/etc/kubernetes/admin-exposed.conf"], when: "the control plane is exposed" },
    { paths: ["/opt/bin/rclone"], when: "there are backups" },
  ],
  kubelet: [],
  etcd: [{ paths: ["/var/lib/etcd-{events,main}/has-data"] }],
  kubeApiServer: [],
  controllers: [
    { paths: ["/etc/kubernetes/manifests/kube-{controller-manager,scheduler}.yaml"] },
    AGENT, // which this row starts; the command itself says in Cluster, too, how it gets on
  ],
  kubeControllerManager: [],
  kubeScheduler: [],
  node: [{ objects: { "": ["Node"] } }],
  imported: [
    {
      paths: ["/var/lib/gardenadm/imported"],
      objects: { "kube-system": ["ConfigMap", "Deployment", "Secret", "StatefulSet"] },
    },
  ],
  turn: [{ objects: { "kube-system": ["Lease"] } }],
};

const RESOURCE_MANAGERS: Writes = {
  objects: {
    "": ["ClusterRoleBinding"],
    garden: [
      "ConfigMap",
      "Deployment",
      "ManagedResource",
      "PodDisruptionBudget",
      "Secret",
      "Service",
      "ServiceAccount",
    ],
    "kube-system": ["ConfigMap", "Deployment", "PodDisruptionBudget", "Service", "ServiceAccount"],
  },
};

const EXTENSIONS: Writes = {
  objects: { "": ["Namespace"], garden: ["ManagedResource", "Secret"] },
  besides: "what the charts of the extensions have",
};

/** What the rows of `reconcileSelfHosted` write, by the names of the rows. */
export const reconcileWrites: Readonly<Record<string, readonly Writes[]>> = {
  crds: [{ objects: { "": ["CustomResourceDefinition"] } }],
  namespaces: [
    {
      objects: {
        "": ["ClusterRole", "ClusterRoleBinding", "Namespace", "PriorityClass"],
        "kube-public": ["ConfigMap", "Role", "RoleBinding"],
        "kube-system": ["ServiceAccount"],
      },
    },
  ],
  cluster: [{ objects: { "": ["Cluster"] } }],
  secrets: [{ objects: { "": ["Cluster"], "kube-system": ["Secret"] } }],
  nodeAccess: [
    {
      objects: {
        "": ["ClusterRole", "ClusterRoleBinding", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"],
        "kube-system": ["Role", "RoleBinding"],
      },
    },
  ],
  nodeAgent: [],
  resourceManager: [RESOURCE_MANAGERS],
  extensions: [EXTENSIONS],
  kubeProxy: [
    {
      paths: ["/usr/lib/modules/"],
      objects: { "": ["ClusterRoleBinding"], "kube-system": ["ConfigMap", "DaemonSet", "ServiceAccount"] },
    },
  ],
  network: [
    {
      paths: ["/etc/cni/net.d/", "/var/lib/cni/"],
      objects: { "kube-system": ["Network"] },
      besides: "what the extension for the Network makes of it",
    },
  ],
  coreDns: [
    {
      objects: {
        "": ["ClusterRole", "ClusterRoleBinding"],
        "kube-system": ["ConfigMap", "Deployment", "Service", "ServiceAccount"],
      },
    },
  ],
  resourceManagerInPods: [RESOURCE_MANAGERS],
  extensionsInPods: [EXTENSIONS],
  operatingSystemConfig: [{ objects: { "kube-system": ["OperatingSystemConfig"] } }],
  controlPlane: [{ objects: { "kube-system": ["ControlPlane"] } }],
  exposure: [
    {
      objects: { "kube-system": ["DNSRecord", "Secret", "SelfHostedShootExposure"] },
      when: "the control plane is exposed",
    },
  ],
  backupEntry: [
    { objects: { "": ["BackupBucket", "BackupEntry", "Namespace"], garden: ["Secret"], "kube-system": ["Secret"] } },
  ],
  etcdManaged: [],
  etcdBackup: [
    {
      paths: ["/var/lib/gardenadm/backup/", "FOLDER/.backup-keys.json"],
      objects: { "kube-system": ["CronJob", "Secret"] },
    },
  ],
  staticPods: [
    {
      paths: ["/etc/kubernetes/manifests/", "/var/lib/static-pods/"],
      objects: { "kube-system": ["ConfigMap", "Deployment", "Secret", "StatefulSet"] },
    },
  ],
  nodesReady: [],
  routes: [],
};
