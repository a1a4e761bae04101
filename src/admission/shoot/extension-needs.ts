import { extensionKinds } from "../../api/extensions/kinds.ts";
import { ControllerRegistration, type Shoot } from "../../api/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { Cause } from "../review.ts";
import type { ShootChange } from "./change.ts";

/**
 * Which extensions the Shoot needs that no ControllerRegistration is in charge of. Where others of that kind are registered,
 * the garden's extensions are, and a new need is refused; where none is, they may be installed by other means, and it is
 * warned of (Gardener: plugin ExtensionValidator, which refuses both).
 */
export async function extensionNeeds(
  client: KubeClient,
  { shoot, old }: Pick<ShootChange, "shoot" | "old">,
): Promise<{ causes: Cause[]; warnings: string[] }> {
  const registrations = await client.list(ControllerRegistration);
  const offered = registrations.flatMap(({ spec }) => spec.resources ?? []).filter(({ primary }) => primary !== false);
  const missing = neededExtensions(shoot).filter((needed) => !offered.some((offer) => isSame(offer, needed)));
  const had = old ? neededExtensions(old) : [];
  const isRefused = (needed: Need) =>
    offered.some(({ kind }) => kind === needed.kind) && !had.some((before) => isSame(before, needed));
  const say = ({ kind, type }: Need) => `no ControllerRegistration is in charge of ${kind} of type ${type}`;
  return {
    causes: missing.filter(isRefused).map((needed) => ({ field: "spec", message: say(needed) })),
    warnings: missing.filter((needed) => !isRefused(needed)).map(say),
  };
}

interface Need {
  readonly kind: string;
  readonly type: string;
}

const isSame = (a: Need, b: Need): boolean => a.kind === b.kind && a.type === b.type;

/** The kinds and types that the Shoot needs, as far as their contracts have admission ask for them. */
function neededExtensions(shoot: Shoot): Need[] {
  const hasWorkers = (shoot.spec.provider.workers ?? []).length > 0;
  return Object.values(extensionKinds).flatMap(({ kind, contract }) => {
    if (contract.admission === "none" || (contract.admission === "workers" && !hasWorkers)) return [];
    return [...new Set(contract.types({ shoot, seed: undefined }))].map((type) => ({ kind, type }));
  });
}
