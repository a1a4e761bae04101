import type { Contradiction } from "../contradictions.ts";

/** Of GEP-1's page, but for its flows. */
export const ofGep1: readonly Contradiction[] = [
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
    promise: "`status.state`, opaque and persisted",
    file: "src/worker/mirror/mirror.ts",
    find: "if (!isDeepStrictEqual(before, { ...stateOnly(object), metadata: {} })) changed(namespaceOf(object));",
    put: "if (before === undefined) changed(namespaceOf(object));",
  },
  {
    promise: "`status.lastError` with codes",
    file: "src/api/error-codes.ts",
    find: "return nonRetryable.has(code);",
    put: "return false;",
  },
  {
    promise: "The placeholder `{RELOAD-CLOUD-CONFIG-WITH-PATH:…}`",
    file: "src/node-agent/changes.ts",
    find: "return [...unit.ownPaths, ...unit.filePaths, ...old.ownPaths]",
    put: "return [...unit.ownPaths, ...old.ownPaths]",
  },
  {
    promise: "`Network` (named as a later step)",
    file: "src/components/extension-objects.ts",
    find: "podCIDR: pods,",
    put: "podCIDR: services,",
  },
  {
    promise: "Every change is reflected immediately",
    file: "src/worker/mirror/mirror.ts",
    find: "setTimeout(enqueue, times.debounce)",
    put: "setTimeout(enqueue, times.resync)",
  },
  {
    promise: "Gardener's own conditions",
    file: "src/activities/shoot/health.ts",
    find: "SystemComponentsHealthy: both(\n      apiServer.reached ? both(both(system, inside), tunnel) : system,",
    put: "SystemComponentsHealthy: both(\n      apiServer.reached ? both(both(controlPlane, inside), tunnel) : system,",
  },
  {
    promise: "Shoot and backup controllers run in the seed and talk to its API server",
    file: "src/variables.ts",
    find: "The file of the seed's kubeconfig. After a 401 the process reads it again.\",\n    schema: path,\n    readBy: [",
    put: 'The file of the seed\'s kubeconfig. After a 401 the process reads it again.",\n    schema: path,\n    readBy: ["manager", ',
  },
  {
    promise: "The seed is changed in a move, and the object moves with it",
    file: "src/activities/backup/entry.ts",
    find: "const annotations = { [EPOCH_ANNOTATION]: String(epoch), ...previousBucket(existing, entry) };",
    put: "if (existing !== undefined) return;\n  const annotations = { [EPOCH_ANNOTATION]: String(epoch), ...previousBucket(existing, entry) };",
  },
];
