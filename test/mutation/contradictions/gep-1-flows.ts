import type { Contradiction } from "../contradictions.ts";

const reconciliation = "The reconciliation flow";
const deletion = "The deletion flow";
const components = "src/components/index.ts";

/** Of the tables of GEP-1's page about its flows. */
export const ofGep1Flows: readonly Contradiction[] = [
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
  {
    promise:
      "RefreshCloudProviderConfig, RefreshCloudControllerManagerChecksums, RefreshKubeControllerManagerChecksums (disappear)",
    file: "src/components/files.ts",
    find: "...names.flatMap((name) => checksum(`checksum/secret-${name}`, context.checksums[name])),",
    put: "",
  },
  {
    section: deletion,
    promise: "InitializeShootClients",
    file: "src/workflows/delete.ts",
    find: 'call("initializeShootClients")',
    put: 'call("syncCluster")',
  },
  {
    promise: "DeleteClusterAutoscaler",
    file: "src/workflows/delete.ts",
    find: 'after: ["cleanExtendedApis", "destroyClusterAutoscaler"], was',
    put: 'after: ["cleanExtendedApis"], was',
  },
  {
    promise: "CleanCustomResourceDefinitions",
    file: "src/activities/teardown/shoot-resources.ts",
    find: 'await phase("extended APIs", await ofKinds(grace.extendedApis, extendedApis));',
    put: "",
  },
  {
    promise: "CleanKubernetesResources",
    file: "src/activities/teardown/shoot-resources.ts",
    find: "if (!isSpared(object)) users.push(briefly(object));",
    put: "users.push(briefly(object));",
  },
  {
    promise: "DestroyInfrastructure",
    file: "src/workflows/delete.ts",
    find: 'do: remove("Infrastructure")',
    put: 'do: remove("ControlPlane")',
  },
  {
    promise: "DNS.External Destroy, DNS.Internal Destroy",
    file: "src/workflows/delete.ts",
    find: 'do: remove("DNSRecord", "internal")',
    put: 'do: remove("DNSRecord", "external")',
  },
];
