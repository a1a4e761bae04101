import type { Contradiction } from "../contradictions.ts";

const reconciliation = "The reconciliation flow";
const components = "src/components/index.ts";

/** Of GEP-1's page: the table of the reconciliation flow. */
export const ofGep1Reconciliation: readonly Contradiction[] = [
  {
    promise: "DeployNamespace",
    file: "src/components/namespace.ts",
    find: `    [ROLE_LABEL]: "shoot",
`,
    put: "",
  },
  {
    promise: "DeployKubeAPIServerService",
    file: "src/components/kubernetes/kube-apiserver-service.ts",
    find: 'type: "LoadBalancer"',
    put: 'type: "ClusterIP"',
  },
  {
    promise: "WaitUntilKubeAPIServerServiceIsReady",
    file: "src/components/index.ts",
    find: 'objects: kubeApiServerService, rollout: [{ apiVersion: "v1", kind: "Service", name: "kube-apiserver" }]',
    put: "objects: kubeApiServerService, rollout: []",
  },
  {
    promise: "DeploySecrets",
    file: "src/activities/secrets/secrets.ts",
    find: "const fits = isFit(present, signer, request, now);",
    put: "const fits = isFit(present, signer, request, now) && now.getTime() < 0;",
  },
  {
    promise: "DNS.Internal Deploy",
    file: "src/workflows/reconcile.ts",
    find: 'apply("DNSRecord", "internal")',
    put: 'apply("DNSRecord", "external")',
  },
  {
    promise: "DNS.External Deploy",
    file: "src/components/extension-objects.ts",
    find: 'purpose === "internal" ? context.internalDomain : context.externalDomain',
    put: "context.internalDomain",
  },
  {
    promise: "DeployInfrastructure",
    file: "src/activities/extensions/apply-object.ts",
    find: "const registered = registration(target, existing?.metadata.uid);",
    put: "const registered = {};",
  },
  {
    promise: "DeployBackupInfrastructure",
    file: "src/activities/backup/entry.ts",
    find: "finalizers: [GARDENER_FINALIZER],",
    put: "",
  },
  {
    promise: "WaitUntilBackupInfrastructureReconciled",
    file: "src/workflows/reconcile.ts",
    find: 'do: apply("BackupEntry"),                         after: ["leader", "cluster"]',
    put: 'do: call("announceLeader"),                       after: ["leader", "cluster"]',
  },
  {
    promise: "DeployETCD, without a sidecar",
    file: "src/components/etcd/etcd.ts",
    find: "    containers: [container],\n",
    put: '    containers: [container, { ...container, name: "backup-restore" }],\n',
  },
  {
    promise: "WaitUntilEtcdReady",
    file: components,
    find: 'objects: etcd, rollout: [statefulSet("etcd-main"), statefulSet("etcd-events")]',
    put: "objects: etcd, rollout: []",
  },
  {
    promise: "DeployCloudProviderConfig (disappears)",
    file: "src/components/kubernetes/kube-scheduler.ts",
    find: "    image: images.kubeScheduler,",
    put: `    image: images.kubeScheduler,
    env: [{ name: "CLOUD_CONFIG", value: shoot.spec.provider.type }],`,
  },
  {
    promise: "DeployKubeAPIServer",
    test: "anonymous requests",
    file: "src/components/kubernetes/kube-apiserver.ts",
    find: "conditions: paths.map((path) => ({ path }))",
    put: "conditions: undefined",
  },
  {
    promise: "DeployKubeControllerManager",
    test: "the controller manager gives",
    file: "src/components/kubernetes/kube-controller-manager.ts",
    find: '"root-ca-file": secretPath("ca", "ca.crt")',
    put: '"root-ca-file": secretPath("ca-client", "ca.crt")',
  },
  {
    promise: "DeployKubeScheduler",
    test: "the scheduler gives",
    file: "src/components/kubernetes/kube-scheduler.ts",
    find: "  leaderElection: { leaderElect: true },",
    put: '  leaderElection: { leaderElect: true },\n  profiles: [{ schedulerName: "gardener-shoot-controlplane-scheduler" }],',
  },
  {
    promise: "DeployCloudControllerManager (the botanists' now)",
    file: "src/activities/extensions/wanted.ts",
    find: "controlPlaneObject(context, await readProviderStatus(seedClient, context))",
    put: "controlPlaneObject(context)",
  },
  {
    promise: "WaitUntilKubeAPIServerReady",
    file: components,
    find: 'objects: kubeApiServer, rollout: [deployment("kube-apiserver")]',
    put: "objects: kubeApiServer, rollout: []",
  },
  {
    section: reconciliation,
    promise: "InitializeShootClients",
    file: "src/activities/seed.ts",
    find: 'const answer = await (await shootClients.get(run.technicalID)).get("/readyz");',
    put: 'const answer = await Promise.resolve("ok");',
  },
  {
    promise: "ReconcileMachines",
    test: "apply every kind",
    file: "src/workflows/reconcile.ts",
    find: 'worker:                { do: apply("Worker")',
    put: 'worker:                { do: apply("ControlPlane")',
  },
  {
    promise: "DeployKubeAddonManager, cloud config",
    file: "src/components/kubernetes/coredns.ts",
    find: "clusterIP: networksOf(context).dns,",
    put: 'clusterIP: "10.0.0.10",',
  },
  {
    promise: "WaitUntilVPNConnectionExists",
    file: "src/components/tunnel/server.ts",
    find: 'connection: { proxyProtocol: "GRPC", transport: { uds: { udsName: SOCKET.path } } }',
    put: 'connection: { proxyProtocol: "Direct" }',
  },
  {
    promise: "DeployClusterAutoscaler",
    file: "src/components/machines/cluster-autoscaler.ts",
    find: "`--nodes=${minimum}:${maximum}:",
    put: "`--nodes=${minimum}:${minimum}:",
  },
  {
    promise: "DeployClusterAutoscaler",
    test: "is left out where",
    file: "src/workflows/reconcile.ts",
    find: 'deploy("cluster-autoscaler"),                 after: ["worker"], when: [managesMachines, awake]',
    put: 'deploy("cluster-autoscaler"),                 after: ["worker"], when: [awake]',
  },
];
