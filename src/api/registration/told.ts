import type { Seed } from "../core/seed.ts";
import { GARDENER_VERSION } from "../names.ts";
import { hashOf } from "./registered.ts";

/** A Seed's annotations without those of its tools: kubectl's copy of the object is no fact about it. */
export const toldAnnotations = ({ metadata }: Pick<Seed, "metadata">): Record<string, string> =>
  Object.fromEntries(
    Object.entries(metadata.annotations ?? {}).filter(([key]) => !key.startsWith("kubectl.kubernetes.io/")),
  );

/** Changes with all that charts are told of a Seed: its own facts, its cluster's version, and that of Gardener. */
export const seedHash = ({ metadata, spec, status }: Pick<Seed, "metadata" | "spec" | "status">): string =>
  hashOf([
    ...[spec, metadata.labels ?? {}, toldAnnotations({ metadata })],
    ...[status?.clusterIdentity ?? "", status?.kubernetesVersion ?? "", GARDENER_VERSION],
  ]);
