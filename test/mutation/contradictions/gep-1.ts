import type { Contradiction } from "../contradictions.ts";

/** Of GEP-1's page: its goals, CloudProfile and Shoot. */
export const ofGep1: readonly Contradiction[] = [
  {
    promise: "No cloud-specific knowledge; a contract for external controllers",
    file: "src/components/kubernetes/kube-scheduler.ts",
    find: '      "secure-port": 10259,',
    put: `      "secure-port": 10259,
      "cloud-provider": "external",`,
  },
  {
    promise: "No knowledge of operating systems",
    file: "src/provider-local/machine-image/operating-system-config.ts",
    find: "const data = { cloud_config: ",
    put: "const data = { user_data: ",
  },
  {
    promise: "Control planes move between seeds",
    file: "src/workflows/restore.ts",
    find: 'after: ["leases", "fence", "accessSecrets", "infrastructure", "backupEntry", "prepareEtcd", "extensionsBeforeApiServer"]',
    put: 'after: ["leases", "fence", "accessSecrets", "infrastructure", "backupEntry", "extensionsBeforeApiServer"]',
  },
  {
    promise: "`CloudProfile` with versions, machine types, volume types, `caBundle`",
    file: "src/admission/shoot/profile.ts",
    find: `    ...versionCauses(change, profile),
`,
    put: "",
  },
  {
    promise: "`CloudProfile.spec.providerConfig` with zones, images and unavailable types",
    file: "deploy/crds/core.gardener.cloud_cloudprofiles.yaml",
    find: `description: ProviderConfig contains provider-specific configuration for the profile.
                  type: object
                  x-kubernetes-preserve-unknown-fields: true`,
    put: `description: ProviderConfig contains provider-specific configuration for the profile.
                  type: object`,
  },
  {
    promise: "`CloudProfile.spec.providerConfig` with zones, images and unavailable types",
    test: "a Shoot with %s is refused",
    file: "src/admission/shoot/workers.ts",
    find: "zone.unavailableMachineTypes?.includes(machine.type) ?",
    put: 'zone.name === "" ?',
  },
  {
    promise: "`Shoot.spec.cloudProfileName`",
    file: "src/admission/shoot/references.ts",
    find: "return [{ field, message: `there is no ${kind} ${name}: see kubectl get cloudprofiles` }];",
    put: "return [];",
  },
  {
    promise: "`Shoot.spec.secretBindingName`",
    test: "the Secret that a SecretBinding names",
    file: "src/activities/secrets/provisioning.ts",
    find: "data: secret.data ?? {},",
    put: "data: {},",
  },
  {
    promise: "`Shoot.spec.cloud.type`, `.region`, `.providerConfig`",
    file: "src/components/extension-objects.ts",
    find: "...(provider.infrastructureConfig ? { providerConfig: provider.infrastructureConfig } : {}),",
    put: "",
  },
  {
    promise: "`Shoot.spec.cloud.seed`",
    file: "src/admission/shoot/binding.ts",
    find: "if (!(await mayBind())) {",
    put: "if (!(await mayBind()) && old !== undefined) {",
  },
  {
    promise: "`Shoot.spec.cloud.workerPools` with `minimum`, `maximum`, `maxSurge`, `maxUnavailable`",
    test: "makes one new machine before",
    file: "src/provider-local/worker/machines.ts",
    find: "const room = count + surge - machines.length;",
    put: "const room = count + surge;",
  },
  {
    promise: "Taints, labels and annotations of pools (proposed for the future)",
    file: "src/components/node/pool.ts",
    find: `    ...pool.labels,
`,
    put: "",
  },
  {
    promise: "`kubernetes.version`",
    file: "src/components/context.ts",
    find: "kubeProxy: `registry.k8s.io/kube-proxy:${tag}`",
    put: "kubeProxy: `registry.k8s.io/kube-proxy:v1.34.4`",
  },
  {
    promise: "`kubernetes.version`",
    test: "neither downgraded",
    file: "src/admission/shoot/version.ts",
    find: "if (semver.lt(to, from))",
    put: "if (semver.lt(to, from) && semver.gt(to, from))",
  },
  {
    promise: "`dns.provider`, `dns.domain`",
    file: "src/admission/shoot/defaults.ts",
    find: "isNew ? onCreation({ ...shoot, spec: complete }, name, seed) : complete",
    put: "complete",
  },
  {
    promise: "`backup.schedule`, `.maximum`",
    file: "src/components/etcd/backup.ts",
    find: "${minute}-59/${period} * * * *",
    put: "${minute}-59/10 * * * *",
  },
  {
    promise: "`backup.schedule`, `.maximum`",
    test: "etcd is saved by the schedule itself",
    file: "src/components/etcd/backup.ts",
    find: "suspend: shoot.spec.hibernation?.enabled === true,",
    put: "suspend: shoot.spec.hibernation?.enabled !== true,",
  },
];
