import { ControllerDeployment, ControllerRegistration } from "../../api/index.ts";
import type { Pair } from "../../api/registration/demand.ts";
import { pairsOfShoot } from "../../api/registration/demand.ts";
import { readDeployment, readInlineDeployment, type DeploymentReading } from "../../api/registration/deployment.ts";
import { registeredOf } from "../../api/registration/registered.ts";
import { extensionsOf } from "../../api/registration/shoot-extensions.ts";
import type { Configuration } from "../configuration/configuration.ts";

/** A registered controller that the cluster gets, and how it is installed. */
export interface WantedExtension {
  readonly name: string;
  readonly deployment: DeploymentReading;
}

/** The kinds and types that the Shoot asks for and a registration of its configuration offers. */
export function offersFor(configuration: Configuration): readonly Pair[] {
  const offered = registrationsOf(configuration).flatMap((registration) => registeredOf(registration).offers);
  return askedBy(configuration).filter((pair) => offered.some((offer) => isSame(offer, pair)));
}

/** The controllers that the cluster needs: those that offer what its Shoot asks for, and those whose policy is to be everywhere. */
export function wantedExtensions(configuration: Configuration): readonly WantedExtension[] {
  const asked = askedBy(configuration);
  return registrationsOf(configuration)
    .filter((registration) => {
      const { offers, policy } = registeredOf(registration);
      return policy === "Always" || offers.some((offer) => asked.some((pair) => isSame(offer, pair)));
    })
    .map((registration) => ({
      name: registration.metadata.name,
      deployment: deploymentOf(registration, configuration),
    }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

const registrationsOf = ({ objects }: Configuration): ControllerRegistration[] =>
  objects
    .filter(({ kind }) => kind === ControllerRegistration.kind)
    .map((object) => ControllerRegistration.schema.parse(object));

/** Machines and their network are there already: nobody is asked to make them. */
function askedBy(configuration: Configuration): readonly Pair[] {
  const { shoot } = configuration;
  const own = pairsOfShoot(shoot).filter(({ kind }) => kind !== "Infrastructure" && kind !== "Worker");
  const registered = registrationsOf(configuration).map(registeredOf);
  return [...own, ...extensionsOf(shoot, registered).map(({ type }) => ({ kind: "Extension", type }))];
}

const isSame = (one: Pair, other: Pair): boolean => one.kind === other.kind && one.type === other.type;

function deploymentOf(registration: ControllerRegistration, { objects }: Configuration): DeploymentReading {
  const [reference] = registration.spec.deployment?.deploymentRefs ?? [];
  if (reference === undefined) return readInlineDeployment(registration);
  const found = objects.find(
    ({ kind, metadata }) => kind === ControllerDeployment.kind && metadata.name === reference.name,
  );
  if (found === undefined)
    return {
      is: "invalid",
      problem: `there is no ControllerDeployment ${reference.name}: add it to the configuration`,
    };
  return readDeployment(ControllerDeployment.schema.parse(found));
}
