import type { Shoot } from "../../api/index.ts";
import type { ShootView } from "../../activities/index.ts";
import type { Garden } from "../context.ts";
import { CliError } from "../exit.ts";
import { shootRef } from "../find-shoot.ts";
import type { MoveTables } from "../migration/plan.ts";
import type { FlowTables } from "./plan.ts";

/** Imports the flow tables; only verbs that explain flows pay for them. */
export async function loadTables(): Promise<FlowTables> {
  const [{ reconcile }, { deleteShoot }, { migrate }, { restore }] = await Promise.all([
    import("../../workflows/reconcile.ts"),
    import("../../workflows/delete.ts"),
    import("../../workflows/migrate.ts"),
    import("../../workflows/restore.ts"),
  ]);
  return { reconcile, delete: deleteShoot, migrate, restore };
}

/** Imports the flows of a move, the clean-up behind it included. */
export async function loadMoveTables(): Promise<MoveTables> {
  const [{ migrate, restore }, { cleanUp }] = await Promise.all([loadTables(), import("../../workflows/clean-up.ts")]);
  return { migrate, restore, cleanUp };
}

/** The Shoot as its workflow would read it now. */
export async function readView({ client }: Garden, shoot: Shoot): Promise<ShootView> {
  const { readShootView } = await import("../../activities/shoot/view.ts");
  const view = await readShootView(client, shootRef(shoot), periodsOf(shoot));
  if (view) return view;
  const { namespace, name } = shoot.metadata;
  throw new CliError("notFound", `Shoot ${namespace}/${name} has just gone: see 'perennial shoot list'`);
}

/** The Shoot's own lease and TTL, in seconds, as its last operation wrote them down; the rest, in ms, decides nothing here. */
const periodsOf = ({ status }: Shoot) => ({
  ...defaultPeriods,
  leaseSeconds: status?.leadership?.leaseSeconds ?? defaultPeriods.leaseSeconds,
  dnsTtl: status?.addressTTLSeconds ?? defaultPeriods.dnsTtl,
});

/** What a worker that was not told otherwise goes by; plans only say it, flows do not read it. */
const defaultPeriods = {
  syncPeriod: 3_600_000,
  retryDuration: 43_200_000,
  leaseSeconds: 60,
  dnsTtl: 120,
  seedDeadline: 120_000,
};
