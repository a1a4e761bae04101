import { controlPlanePools } from "../../api/shoot/self-hosted.ts";
import type { Configuration } from "../configuration/configuration.ts";
import type { Candidate } from "../preflight/candidate.ts";
import { demandsOf } from "../preflight/demands.ts";
import { wantedExtensions } from "../configuration/registrations.ts";
import type { ThisMachine } from "../machine/this-machine.ts";
import { placesIn } from "../machine/places.ts";
import { isThere } from "../machine/is-there.ts";

/** This machine, with what the configuration's Shoot asks of those that carry its control plane. */
export async function candidateFor(machine: ThisMachine, configuration: Configuration): Promise<Candidate> {
  const { shoot } = configuration;
  const [pool] = controlPlanePools(shoot);
  const demands = demandsOf(shoot, pool, wantedExtensions(configuration).length);
  return { ...machine, isBegun: await isThere(placesIn(machine.root).shootUid), demands };
}
