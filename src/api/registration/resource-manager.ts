import { RESOURCE_MANAGER_ANNOTATION } from "../annotations.ts";
import type { Seed } from "../core/seed.ts";
import type { Shoot } from "../shoot/shoot.ts";
import { registrationsFor } from "./gate.ts";
import { isByChart, type Registered } from "./registered.ts";

/**
 * Whether a resource manager stands beside a Shoot's control plane: where one of the extensions that serve the Shoot is one
 * that we install, unless its registration says that it writes no ManagedResources, and where the Shoot or its Seed asks for it.
 */
export function usesResourceManager(shoot: Shoot, seed: Seed, registrations: readonly Registered[]): boolean {
  const asked = [shoot, seed].some(({ metadata }) => metadata.annotations?.[RESOURCE_MANAGER_ANNOTATION] === "true");
  return asked || registrationsFor(shoot, seed, registrations).some(({ registered }) => writesResources(registered));
}

const writesResources = (registered: Registered): boolean =>
  isByChart(registered) && registered.writesNoResources !== true;
