import type { Cluster } from "../api/index.ts";
import type { ControlPlaneContext } from "./context.ts";
import { withGardenerDefaults } from "./gardener-defaults.ts";

/** What extensions know of a Shoot: the garden's objects, without a Seed where none carries it, the Shoot with the defaults that they count on. */
export function clusterObject({
  namespace,
  cloudProfile,
  seed,
  shoot,
}: Pick<ControlPlaneContext, "namespace" | "cloudProfile" | "seed" | "shoot">): Cluster {
  return {
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Cluster",
    metadata: { name: namespace },
    spec: {
      cloudProfile: stripped(cloudProfile),
      ...(seed && { seed: stripped(seed) }),
      shoot: withGardenerDefaults(stripped(shoot)),
    },
  };
}

function stripped<T extends { metadata: object }>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata as Record<string, unknown>;
  return { ...object, metadata };
}
