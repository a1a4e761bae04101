import { ControllerInstallation } from "../core/controller-installation.ts";
import { ControllerRegistration } from "../core/controller-registration.ts";
import type { Seed } from "../core/seed.ts";
import type { Scope, TypeRef } from "../schema/kind.ts";
import type { KubeObject } from "../schema/meta.ts";
import type { Shoot } from "../shoot/shoot.ts";
import { registrationsFor, type NeededRegistration, type SeedExtensions } from "./gate.ts";
import { registeredOf } from "./registered.ts";
import { asItServes } from "./wanted.ts";

/** Lists objects of the garden. */
export interface Lister {
  list<T extends KubeObject, S extends Scope>(type: TypeRef<T, S>): Promise<T[]>;
}

/**
 * The controllers that a Shoot needs and that the Seed does not have and never gets: nothing is installed for a registration that
 * is being deleted. What is installed is asked for only where there is such a registration.
 */
export async function readLacking(
  garden: Lister,
  shoot: Pick<Shoot, "spec">,
  seed: Seed,
): Promise<readonly NeededRegistration[]> {
  const registrations = (await garden.list(ControllerRegistration)).map(registeredOf).map(asItServes);
  if (!registrations.some(({ deleting }) => deleting)) return [];
  const all = await garden.list(ControllerInstallation);
  const installations = all.filter(({ spec }) => spec.seedRef?.name === seed.metadata.name);
  return lackingExtensions(shoot, seed, { registrations, installations });
}

/** The same of what is known already. Of what other hands install it is not known what they will do. Pure. */
export function lackingExtensions(
  shoot: Pick<Shoot, "spec">,
  seed: Pick<Seed, "spec">,
  { registrations, installations }: SeedExtensions,
): readonly NeededRegistration[] {
  const staying = installations.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const isThere = (name: string) => staying.some(({ spec }) => spec.registrationRef.name === name);
  return registrationsFor(shoot, seed, registrations).filter(
    ({ registered: { deleting, method, name } }) => deleting && method.by !== "others" && !isThere(name),
  );
}
