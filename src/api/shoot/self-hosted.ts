import type { Shoot } from "./shoot.ts";

/** A worker pool of a Shoot. */
type WorkerPool = NonNullable<Shoot["spec"]["provider"]["workers"]>[number];

/** The pools whose nodes carry the control plane: one for a self-hosted Shoot, none where a Seed carries it. */
export const controlPlanePools = ({ spec }: Pick<Shoot, "spec">): readonly WorkerPool[] =>
  (spec.provider.workers ?? []).filter(({ controlPlane }) => controlPlane !== undefined);

/** Whether the Shoot carries its own control plane (GEP-28). */
export const isSelfHosted = (shoot: Pick<Shoot, "spec">): boolean => controlPlanePools(shoot).length > 0;
