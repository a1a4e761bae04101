import type { Contradiction } from "../contradictions.ts";

/** Of GEP-1's page: which controllers there are, and what the garden refuses and fills in. */
export const ofGep1Registration: readonly Contradiction[] = [
  {
    promise: "`ControllerRegistration` with kinds and types",
    file: "src/admission/controller-registration.ts",
    find: "return judge([...kinds, ...inlineCauses(registration), ...causes.flat()]);",
    put: "return judge([...inlineCauses(registration), ...causes.flat()].filter(() => kinds.length >= 0));",
  },
  {
    promise: "Each kind and type exists once",
    file: "src/admission/controller-registration.ts",
    find: "resource.primary !== false",
    put: "resource.primary === false",
  },
  {
    promise: "Gardener finds out which controllers a Shoot needs",
    file: "src/api/extensions/network.ts",
    find: "shoot.spec.networking?.type === undefined ? [] : [shoot.spec.networking.type]",
    put: 'shoot.spec.networking?.type === undefined ? [] : ["calico"]',
  },
  {
    promise: "`ControllerInstallation` asks an operator to deploy",
    file: "src/controllers/registration/registration.ts",
    find: 'return requirements.registered(spec.registrationRef.name ?? "")?.method.by === "helm";',
    put: 'return requirements.registered(spec.registrationRef.name ?? "") !== undefined;',
  },
  {
    promise: "`deployment.type: helm` is rendered by Gardener",
    file: "src/controllers/registration/wanted-installation.ts",
    find: "[SEED_HASH_LABEL]: seed.hash,",
    put: "[SEED_HASH_LABEL]: asLabel(seed.name),",
  },
  {
    promise: "An operator reports in the installation's status",
    file: "deploy/crds/core.gardener.cloud_controllerinstallations.yaml",
    find: `description: ProviderStatus contains type-specific status.
                  type: object
                  x-kubernetes-preserve-unknown-fields: true`,
    put: `description: ProviderStatus contains type-specific status.
                  type: object`,
  },
  {
    promise: "Provider-specific defaulting and validation are webhooks of the providers",
    file: "src/provider-local/admission/shoots.ts",
    find: "...(volume ? [{ field: `${field}.volume`, message: disk }] : []),",
    put: "...(volume ? [] : []),",
  },
  {
    promise: "General defaulting and validation stay in Gardener",
    file: "src/admission/shoot/defaults.ts",
    find: ".sort((a, b) => semver.compare(b.parsed, a.parsed))[0]?.version",
    put: ".sort((a, b) => semver.compare(a.parsed, b.parsed))[0]?.version",
  },
  {
    promise: "Shoot quotas stay in the core",
    file: "src/admission/shoot/quota-use.ts",
    find: "bindingsByQuota([...secretBindings, ...credentialsBindings])",
    put: "bindingsByQuota([...secretBindings, ...credentialsBindings.slice(0, 0)])",
  },
  {
    promise: "Maintenance sets `trigger.gardener.cloud=maintenance`, updates patch versions and images",
    file: "src/provider-local/admission/shoots.ts",
    find: 'classification === "supported")',
    put: 'classification !== "deprecated")',
  },
];
