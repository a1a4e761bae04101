import { TUNNEL_ANNOTATION } from "../annotations.ts";
import type { Seed } from "../core/seed.ts";
import type { Shoot } from "../shoot/shoot.ts";

/**
 * Whether the Shoot's API server reaches nodes, pods and Services through a tunnel: where it has nodes, unless its Seed says
 * `"false"`, for it reaches its Shoots' networks. What the Shoot itself says counts more.
 */
export function usesTunnel({ metadata, spec }: Shoot, seed: Seed): boolean {
  const said = metadata.annotations?.[TUNNEL_ANNOTATION] ?? seed.metadata.annotations?.[TUNNEL_ANNOTATION];
  return (spec.provider.workers ?? []).length > 0 && said !== "false";
}
