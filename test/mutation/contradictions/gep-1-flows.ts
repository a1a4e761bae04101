import type { Contradiction } from "../contradictions.ts";

const reconciliation = "The reconciliation flow";
const deletion = "The deletion flow";
const components = "src/components/index.ts";

/** Of the tables of GEP-1's page about its flows. */
export const ofGep1Flows: readonly Contradiction[] = [
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
    promise: "WaitUntilEtcdReady",
    file: components,
    find: 'objects: etcd, rollout: [statefulSet("etcd-main"), statefulSet("etcd-events")]',
    put: "objects: etcd, rollout: []",
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
    section: deletion,
    promise: "InitializeShootClients",
    file: "src/workflows/delete.ts",
    find: 'call("initializeShootClients")',
    put: 'call("cleanWebhooks")',
  },
  {
    promise: "DeleteClusterAutoscaler",
    file: "src/workflows/delete.ts",
    find: 'after: ["cleanExtendedApis", "destroyClusterAutoscaler"], was',
    put: 'after: ["cleanExtendedApis"], was',
  },
];
