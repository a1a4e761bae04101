import type { Seed } from "../core/seed.ts";
import { hashOf } from "./registered.ts";

/** A Seed's annotations without those of its tools: kubectl's copy of the object is no fact about it. */
export const toldAnnotations = ({ metadata }: Pick<Seed, "metadata">): Record<string, string> =>
  Object.fromEntries(
    Object.entries(metadata.annotations ?? {}).filter(([key]) => !key.startsWith("kubectl.kubernetes.io/")),
  );

/** Changes with all that charts are told of a Seed. */
export const seedHash = (seed: Pick<Seed, "metadata" | "spec" | "status">): string =>
  hashOf([seed.spec, seed.metadata.labels ?? {}, toldAnnotations(seed), seed.status?.clusterIdentity ?? ""]);
