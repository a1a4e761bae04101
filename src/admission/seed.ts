import { Seed, Shoot } from "../api/index.ts";
import type { KubeClient } from "../kube/index.ts";
import { isNetwork, overlaps } from "./network.ts";
import { judge, type Cause, type Webhook } from "./review.ts";

/** Judges requests about Seeds: usable networks, and no deletion while a Shoot is, or has been, on the Seed. */
export function createSeedValidator({ client }: { client: KubeClient }): Webhook {
  return async ({ operation, name = "", object }) => {
    if (operation !== "DELETE") return judge(networkCauses(Seed.parse(object)));
    const shoots = await client.list<Shoot>({ apiVersion: Shoot.apiVersion, kind: Shoot.kind });
    const users = shoots
      .filter((shoot) => uses(shoot, name))
      .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    if (users.length === 0) return judge([]);
    const list = users.slice(0, 10).join(", ") + (users.length > 10 ? ` and ${users.length - 10} more` : "");
    return judge([
      { field: "metadata.name", message: `is the Seed of ${list}: move or delete them first`, forbidden: true },
    ]);
  };
}

function uses({ spec, status }: Shoot, seed: string): boolean {
  return spec.seedName === seed || status?.seedName === seed || (status?.seeds?.includes(seed) ?? false);
}

function networkCauses({ spec }: Seed): Cause[] {
  const networks = (["pods", "services", "nodes"] as const).flatMap((name) => {
    const cidr = spec.networks[name];
    return cidr ? [{ field: `spec.networks.${name}`, cidr }] : [];
  });
  const malformed = networks
    .filter(({ cidr }) => !isNetwork(cidr))
    .map(({ field, cidr }) => ({ field, message: `${cidr} is not a network in CIDR notation, such as 10.96.0.0/16` }));
  if (malformed.length > 0) return malformed;
  return networks.flatMap((a, index) =>
    networks
      .slice(index + 1)
      .filter((b) => overlaps(a.cidr, b.cidr))
      .map((b) => ({
        field: b.field,
        message: `${b.cidr} overlaps with ${a.cidr} of ${a.field}: choose another network`,
      })),
  );
}
