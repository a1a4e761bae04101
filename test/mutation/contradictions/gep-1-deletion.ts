import type { Contradiction } from "../contradictions.ts";

const deletion = "The deletion flow";

/** Of GEP-1's page: the table of the deletion flow. */
export const ofGep1Deletion: readonly Contradiction[] = [
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
    find: 'await phase("extended APIs", named(grace.extendedApis, extendedApis), before);',
    put: "",
  },
  {
    promise: "CleanKubernetesResources",
    file: "src/activities/teardown/users-objects.ts",
    find: "if (!isSpared(object)) users.push(briefly(object));",
    put: "users.push(briefly(object));",
  },
  {
    promise: "DestroyMachines",
    test: "restore, migrate and remove",
    file: "src/workflows/delete.ts",
    find: 'do: remove("Worker")',
    put: 'do: remove("ControlPlane")',
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
  {
    promise: "DeleteKubeAPIServer",
    test: "destroy every component",
    file: "src/workflows/delete.ts",
    find: 'do: destroy("kube-apiserver"),',
    put: 'do: destroy("kube-scheduler"),',
  },
  {
    promise: "DeleteBackupInfrastructure",
    test: "stay while their Shoot",
    file: "src/worker/backup/entry.ts",
    find: "    await seedClient.remove(refOf(provided));\n",
    put: "",
  },
  {
    promise: "DeleteNamespace, WaitUntilSeedNamespaceDeleted",
    test: "deploy every component",
    file: "src/workflows/delete.ts",
    find: '"destroyApiServerService", "destroyEtcd", "removeExtensionsAfterApiServer"]',
    put: '"destroyApiServerService", "removeExtensionsAfterApiServer"]',
  },
  {
    promise: "DeleteGardenSecrets",
    test: "the published kubeconfig belongs",
    file: "src/activities/control-plane/user-kubeconfig.ts",
    find: "  ownerReferences: [{ ...typeMeta(Shoot), name, uid }],\n",
    put: "  ...(uid === name ? { ownerReferences: [{ ...typeMeta(Shoot), name, uid }] } : {}),\n",
  },
];
