import { listed } from "../api/counted.ts";
import { TUNNEL_ANNOTATION } from "../api/annotations.ts";
import { Seed, Shoot } from "../api/index.ts";
import type { KubeClient } from "../kube/index.ts";
import { malformedAmong, overlapsAmong } from "./network.ts";
import { seedChangeCauses } from "./seed-change.ts";
import { keyOf, KnownShoot } from "./watched/known.ts";
import { judge, type Cause, type Webhook } from "./review.ts";

/** Judges requests about Seeds: usable networks, what its Shoots need stays, and no deletion while a Shoot is, or has been, on the Seed. */
export function createSeedValidator({ client }: { client: KubeClient }): Webhook {
  return async ({ operation, name = "", object, oldObject }) => {
    if (operation !== "DELETE") {
      const shoots = operation === "CREATE" ? [] : await client.list(KnownShoot);
      const seed = Seed.parse(object);
      const hosted = shoots.filter((shoot) => uses(shoot, name));
      return judge([
        ...seedNetworkCauses(seed),
        ...tunnelCauses(seed),
        ...(oldObject ? seedChangeCauses(seed, Seed.parse(oldObject), hosted) : []),
      ]);
    }
    const shoots = await client.list(Shoot);
    const users = shoots.filter((shoot) => uses(shoot, name));
    const leftBy = shoots.filter((shoot) => !uses(shoot, name) && shoot.status?.seeds?.includes(name));
    return judge([
      ...refuse(users, (list) => `is the Seed of ${list}: move or delete them first`),
      ...refuse(
        leftBy,
        (list) =>
          `still holds what ${list} left there: wait until its worker has cleaned up; if it is off and never comes back, take its name out of their status.seeds`,
      ),
    ]);
  };
}

const uses = ({ spec, status }: KnownShoot, seed: string): boolean =>
  spec.seedName === seed || status?.seedName === seed;

function refuse(shoots: readonly KnownShoot[], say: (list: string) => string): Cause[] {
  if (shoots.length === 0) return [];
  const names = shoots.map(({ metadata }) => keyOf(metadata));
  return [{ field: "metadata.name", message: say(listed(names, 10)), forbidden: true }];
}

/** What says neither would be taken for a wish, by an operator who meant the other. */
export function tunnelCauses({ metadata }: Pick<Seed, "metadata">): Cause[] {
  const said = metadata.annotations?.[TUNNEL_ANNOTATION];
  if (said === undefined || said === "true" || said === "false") return [];
  const message = `${JSON.stringify(said)} is not supported: choose one of true, false`;
  return [{ field: `metadata.annotations[${TUNNEL_ANNOTATION}]`, message }];
}

/** Networks that are none, or share addresses: what is blocked has to be understood by all who read it. */
export function seedNetworkCauses({ spec }: Pick<Seed, "spec">): Cause[] {
  const field = "spec.networks.blockCIDRs";
  const blocked = malformedAmong((spec.networks.blockCIDRs ?? []).map((cidr) => ({ field, cidr })));
  if (blocked.length > 0) return blocked;
  const networks = (["pods", "services", "nodes"] as const).flatMap((name) => {
    const cidr = spec.networks[name];
    return cidr ? [{ field: `spec.networks.${name}`, cidr }] : [];
  });
  const malformed = malformedAmong(networks);
  return malformed.length > 0 ? malformed : overlapsAmong(networks);
}
