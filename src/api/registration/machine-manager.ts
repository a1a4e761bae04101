import { MACHINE_CONTROLLER_MANAGER_ANNOTATION } from "../annotations.ts";
import type { Seed } from "../core/seed.ts";
import type { Shoot } from "../shoot/shoot.ts";
import { registrationsFor } from "./gate.ts";
import { isByChart, type Registered } from "./registered.ts";

/**
 * Whether machine-controller-manager makes a Shoot's machines: where the Worker's extension is one that we install, unless
 * its registration says that it makes them itself, and where the Shoot or its Seed asks for it. A Shoot without workers has none.
 */
export function usesMachineManager(shoot: Shoot, seed: Seed, registrations: readonly Registered[]): boolean {
  const { type, workers = [] } = shoot.spec.provider;
  if (workers.length === 0) return false;
  const asked = [shoot, seed].some(
    ({ metadata }) => metadata.annotations?.[MACHINE_CONTROLLER_MANAGER_ANNOTATION] === "true",
  );
  const installed = installedFor(shoot, seed, registrations, { kind: "Worker", type });
  return asked || (installed !== undefined && installed.makesMachines !== true);
}

/** The registration that is primary for a kind and type that the Shoot needs, if its controller is installed by us. */
function installedFor(
  shoot: Shoot,
  seed: Seed,
  registrations: readonly Registered[],
  { kind, type }: { readonly kind: string; readonly type: string },
): Registered | undefined {
  const found = registrationsFor(shoot, seed, registrations).find(({ registered: { offers } }) =>
    offers.some((offer) => offer.primary && offer.kind === kind && offer.type === type),
  );
  return found !== undefined && isByChart(found.registered) ? found.registered : undefined;
}
