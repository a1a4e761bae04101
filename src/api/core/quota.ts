import { z } from "zod";
import { objectReference } from "../schema/references.ts";
import { defineResource } from "../schema/resource.ts";
import { immutable, object, rules } from "../schema/fields.ts";
import { count, quantity } from "../schema/syntax.ts";

/** What a Quota can limit, by upstream's names. */
export const quotaMetrics = ["cpu", "gpu", "memory", "storage.standard", "storage.premium", "loadbalancer"] as const;

/** One of {@link quotaMetrics}. */
export type QuotaMetric = (typeof quotaMetrics)[number];

const knownMetrics = `self.all(name, name in [${quotaMetrics.map((name) => `'${name}'`).join(", ")}])`;

const quotaSpec = object({
  clusterLifetimeDays: count(1)
    .optional()
    .describe(
      "ClusterLifetimeDays is the lifetime of a Shoot cluster in days before it will be terminated automatically.",
    ),
  metrics: z
    .record(z.string(), quantity())
    .meta({
      maxProperties: quotaMetrics.length,
      ...rules({ rule: knownMetrics, message: `may limit ${quotaMetrics.join(", ")} only` }),
    })
    .describe("Metrics is a list of resources which will be put under constraints."),
  scope: objectReference
    .meta({
      "x-kubernetes-validations": [
        ...immutable()["x-kubernetes-validations"],
        {
          rule: "has(self.kind) && self.kind in ['Project', 'Secret', 'WorkloadIdentity']",
          message: "must be of kind Project, Secret or WorkloadIdentity",
        },
      ],
    })
    .describe("Scope is the scope of the Quota object, either 'project', 'secret' or 'workloadidentity'."),
});

/** What the Shoots of a project, or of all bindings that name the Quota, may use together. */
export const Quota = defineResource({
  group: "core.gardener.cloud",
  version: "v1beta1",
  kind: "Quota",
  plural: "quotas",
  shortNames: ["squota"],
  scope: "Namespaced",
  description: "What the Shoots of a project, or of all bindings that name the Quota, may use together.",
  content: { spec: quotaSpec },
  columns: [{ name: "Scope", path: ".spec.scope.kind" }],
});

/** What the Shoots of a project, or of all bindings that name the Quota, may use together. */
export type Quota = z.infer<typeof Quota.schema>;
