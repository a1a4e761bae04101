import { commandLines } from "../../api/command-lines.ts";
import { cleanUp } from "../../workflows/clean-up.ts";
import { deleteShoot } from "../../workflows/delete.ts";
import { forceDelete } from "../../workflows/force-delete.ts";
import { migrate } from "../../workflows/migrate.ts";
import { reconcile } from "../../workflows/reconcile.ts";
import { restore } from "../../workflows/restore.ts";
import { ControllerRegistration, type Shoot } from "../../api/index.ts";
import { registeredOf } from "../../api/registration/registered.ts";
import type { ShootOperation } from "../../api/shoot/run.ts";
import type { Action } from "../../workflows/actions.ts";
import type { ShootView } from "../../activities/index.ts";
import type { Garden } from "../context.ts";
import { CliError } from "../exit.ts";
import { shootRef } from "../find-shoot.ts";
import type { MoveTables } from "../migration/plan.ts";
import type { FlowTables } from "./plan.ts";

/** The flow tables, by what they do. */
export const flowTables: FlowTables = { reconcile, delete: deleteShoot, "force-delete": forceDelete, migrate, restore };

/** The row of a step in the flow of an operation; undefined for one that today's flows do not have. */
export async function findAction(operation: ShootOperation | undefined, step: string): Promise<Action | undefined> {
  if (operation === undefined) return undefined;
  const { flowFor } = await import("../../workflows/contract.ts");
  return flowTables[flowFor({ operation })].steps.get(step)?.do;
}

/** The flows of a move, the clean-up behind it included. */
export const moveTables: MoveTables = { migrate, restore, cleanUp };

/** The Shoot as its workflow would read it now. */
export async function readView({ client }: Pick<Garden, "client">, shoot: Shoot): Promise<ShootView> {
  const { readShootView } = await import("../../activities/shoot/view.ts");
  const registrations = (await client.list(ControllerRegistration)).map(registeredOf);
  const extensions = { of: () => ({ registrations, installations: [] }) };
  const view = await readShootView(client, shootRef(shoot), await periodsOf(shoot), extensions);
  if (view) return view;
  const { namespace, name } = shoot.metadata;
  throw new CliError("notFound", `Shoot ${namespace}/${name} has just gone: see '${commandLines.listShoots()}'`);
}

/** The Shoot's own lease and TTL, as its last operation wrote them down; a worker's defaults for the rest, which only plans show. */
async function periodsOf({ status }: Shoot) {
  const { defaultConfig } = await import("../../config.ts");
  const defaults = defaultConfig("garden worker");
  return {
    ...defaults,
    leaseSeconds: status?.leadership?.leaseSeconds ?? defaults.leaseSeconds,
    dnsTtl: status?.addressTTLSeconds ?? defaults.dnsTtl,
  };
}
