import { z } from "zod";
import { immutable, object } from "../schema/fields.ts";
import { defineResource } from "../schema/resource.ts";
import { CLUSTERCTL_LABEL, CONTRACT_LABEL_PREFIX } from "./names.ts";

/** The version of our kinds in the groups of Cluster API's providers. */
export const PROVIDER_VERSION = "v1alpha1";

/**
 * Labels of the CustomResourceDefinition of a kind that core reads by contract v1beta2, and that `clusterctl move` takes
 * along (contract: "CRD labels").
 */
export const providerLabels: Readonly<Record<string, string>> = {
  [`${CONTRACT_LABEL_PREFIX}/v1beta2`]: PROVIDER_VERSION,
  [CLUSTERCTL_LABEL]: "",
};

/** What brings a part of a Cluster: each has a group of the contract's. */
export type Provider = "controlplane" | "infrastructure" | "bootstrap";

/** What all kinds of a provider's are: in its group, namespaced, and listed under category `cluster-api`. */
export const providerKind = <const P extends Provider>(provider: P) =>
  ({
    group: `${provider}.cluster.x-k8s.io` as const,
    version: PROVIDER_VERSION,
    scope: "Namespaced",
    categories: ["cluster-api"],
    labels: providerLabels,
  }) as const;

/** Where an API server answers, as the contract wants it in a provider's spec. */
export const controlPlaneEndpoint = object({
  host: z.string().meta({ minLength: 1, maxLength: 512 }).describe("Host is a DNS name or an address."),
  port: z.int32().meta({ minimum: 1, maximum: 65_535 }).describe("Port at which the API server answers."),
});

/** Where an API server answers. */
export type ControlPlaneEndpoint = z.infer<typeof controlPlaneEndpoint>;

/** Labels and annotations for what is made from a template. */
export const templateMetadata = object({
  labels: z.record(z.string(), z.string()).meta({ maxProperties: 100 }).optional().describe("Labels to give."),
  annotations: z
    .record(z.string(), z.string().meta({ maxLength: 16_384 }))
    .meta({ maxProperties: 100 })
    .optional()
    .describe("Annotations to give."),
});

/** What tells a template from the kind that is made from it. */
interface TemplateDefinition<P extends Provider, Kind extends string, Spec extends z.ZodType> {
  readonly provider: P;
  readonly kind: Kind;
  readonly plural: string;
  /** What of the kind's spec a template says. */
  readonly spec: Spec;
}

/** The template of a provider's kind, from which ClusterClasses and MachinePools make objects. It cannot be changed: another takes its place. */
export function defineTemplate<const P extends Provider, const Kind extends string, Spec extends z.ZodType>({
  provider,
  kind,
  plural,
  spec,
}: TemplateDefinition<P, Kind, Spec>) {
  const made = kind.replace(/Template$/, "");
  const template = object({
    metadata: templateMetadata.optional().describe(`Metadata of each ${made}.`),
    spec: spec.describe(`Spec of each ${made}.`),
  });
  return defineResource({
    ...providerKind(provider),
    kind,
    plural,
    description: `What each ${made} of a ClusterClass is made from.`,
    content: {
      spec: object({ template: template.meta(immutable()).describe(`Template of each ${made}.`) }),
    },
  });
}
