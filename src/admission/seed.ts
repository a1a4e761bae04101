import { Seed, Shoot } from "../api/index.ts";
import type { KubeClient } from "../kube/index.ts";
import { malformedAmong, overlapsAmong } from "./network.ts";
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
  const malformed = malformedAmong(networks);
  return malformed.length > 0 ? malformed : overlapsAmong(networks);
}
