import type { Configuration } from "../configuration/configuration.ts";
import { placeOf, readZone } from "../cluster/place.ts";
import { OperatorError } from "../steps/fault.ts";
import type { ThisMachine } from "../machine/this-machine.ts";

/** A machine, the configuration of the control plane that it is to carry, and the zone that its operator says. */
export interface ZoneRequest {
  readonly machine: Pick<ThisMachine, "root">;
  readonly configuration: Pick<Configuration, "shoot">;
  readonly zone?: string | undefined;
}

/**
 * The zone of a machine that is to carry a control plane: the one that is wanted, else that which was noted before, else the only one
 * of the pool; undefined where the pool has none. Throws an OperatorError where it fits no pool, or has to be said.
 */
export async function chooseZone({ machine, configuration, zone }: ZoneRequest): Promise<string | undefined> {
  const wanted = zone ?? (await readZone(machine.root));
  return placeOf(configuration, { role: "control-plane", zone: wanted }).zone;
}

/** Why there is no such zone, or which have to be chosen from; none where there is one. */
export async function zoneFaults(deps: ZoneRequest): Promise<string[]> {
  try {
    await chooseZone(deps);
    return [];
  } catch (error) {
    if (error instanceof OperatorError) return [error.message];
    throw error;
  }
}
