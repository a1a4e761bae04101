/** The sections of the contract, each with where Gardener's documentation or code says it. */
export const sections = {
  "C2.1": "annotations: docs/extensions/reconcile-trigger.md, docs/extensions/migration.md",
  "C2.2": "status: pkg/apis/extensions/v1alpha1/types_defaults.go",
  "C2.3": "readiness: pkg/utils/kubernetes/health/extensions.go",
  "C2.6": "migrate and restore: docs/extensions/migration.md",
  "C2.7": "controllers: extensions/pkg/controller, extensions/pkg/predicate, pkg/controllerutils/reconciler",
  "C2.8": "error codes: pkg/apis/core/v1beta1/types_common.go",
  C3: "kinds: pkg/apis/extensions/v1alpha1, docs/extensions/resources",
} as const;

/** A section of the contract. */
export type Section = keyof typeof sections;
