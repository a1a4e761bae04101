import { extensionKinds } from "../../api/extensions/kinds.ts";
import type { Shoot } from "../../api/index.ts";
import type { Registered } from "../../api/registration/registered.ts";
import type { Cause } from "../review.ts";
import type { ShootChange } from "./change.ts";
import type { Registrations } from "./registrations.ts";

/**
 * Which extensions the Shoot needs that no ControllerRegistration is in charge of. Where others of that kind are registered,
 * the garden's extensions are, and a new need is refused; where none is, they may be installed by other means, and it is
 * warned of (Gardener: plugin ExtensionValidator, which refuses both).
 */
export async function extensionNeeds(
  registrations: Registrations,
  change: Pick<ShootChange, "shoot" | "old">,
): Promise<ExtensionNeeds> {
  const found = judgeNeeds(await registrations.lately(), change);
  return found.causes.length === 0 ? found : judgeNeeds(await registrations.now(), change); // it may just have been registered
}

/** What a Shoot is refused for, and what it is warned of. */
interface ExtensionNeeds {
  readonly causes: Cause[];
  readonly warnings: string[];
}

function judgeNeeds(
  registered: readonly Registered[],
  { shoot, old }: Pick<ShootChange, "shoot" | "old">,
): ExtensionNeeds {
  const offered = registered.flatMap(({ offers }) => offers).filter(({ primary }) => primary);
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
