import { ControllerDeployment, ControllerRegistration } from "../../api/index.ts";
import { needed, type Pair } from "../../api/registration/demand.ts";
import { readDeployment, readInlineDeployment, type DeploymentReading } from "../../api/registration/deployment.ts";
import { registeredOf } from "../../api/registration/registered.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { Shoot } from "../../api/shoot/shoot.ts";
import { neededPairs, neededRegistrations, type Demand } from "./demand.ts";

/** A registered controller that the cluster gets, and how it is installed. */
export interface WantedExtension {
  readonly name: string;
  readonly deployment: DeploymentReading;
}

/** A Shoot, and the objects beside it, registrations among them. */
export interface Registering {
  readonly shoot: Shoot;
  readonly objects: readonly KubeObject[];
}

/** The kinds and types that the Shoot asks for and a registration of its configuration offers. */
export function offersFor(configuration: Registering): readonly Pair[] {
  const offers = registrationsOf(configuration).flatMap((registration) => registeredOf(registration).offers);
  const offered = new Set(offers.map(needed));
  return neededPairs(demandOf(configuration)).filter((pair) => offered.has(needed(pair)));
}

/** The controllers that the cluster needs, in the order of their names. */
export function wantedExtensions(configuration: Registering): readonly WantedExtension[] {
  const registrations = registrationsOf(configuration);
  const names = neededRegistrations(demandOf(configuration), registrations.map(registeredOf));
  return registrations
    .filter(({ metadata }) => names.has(metadata.name))
    .map((registration) => ({
      name: registration.metadata.name,
      deployment: deploymentOf(registration, configuration),
    }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Machines and their network are there already: no controller is asked to make them. */
const demandOf = ({ shoot }: Pick<Registering, "shoot">): Demand => ({ shoot, managedInfrastructure: false });

const registrationsOf = ({ objects }: Pick<Registering, "objects">): ControllerRegistration[] =>
  objects
    .filter(({ kind }) => kind === ControllerRegistration.kind)
    .map((object) => ControllerRegistration.schema.parse(object));

function deploymentOf(registration: ControllerRegistration, { objects }: Registering): DeploymentReading {
  const [reference] = registration.spec.deployment?.deploymentRefs ?? [];
  if (reference === undefined) return readInlineDeployment(registration);
  const found = objects.find(
    ({ kind, metadata }) => kind === ControllerDeployment.kind && metadata.name === reference.name,
  );
  if (found !== undefined) return readDeployment(ControllerDeployment.schema.parse(found));
  const problem = `there is no ControllerDeployment ${reference.name}: add it to the configuration`;
  return { is: "invalid", problem };
}
