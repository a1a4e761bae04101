import {
  DEPLOYMENT_HASH_LABEL,
  INSTALLATION_SEED_LABEL,
  REGISTRATION_HASH_LABEL,
  REGISTRATION_LABEL,
  SEED_HASH_LABEL,
} from "../../api/labels.ts";
import { ControllerDeployment, ControllerInstallation, ControllerRegistration, Seed } from "../../api/index.ts";
import { asLabel, hashOf, type Registered } from "../../api/registration/registered.ts";
import { typeMeta } from "../../kube/index.ts";

/** What an installation is made from; the hashes change when there is something to install anew. */
export interface InstallationParts {
  readonly registered: Registered;
  readonly seed: { readonly name: string; readonly hash: string };
  readonly deployment: { readonly name: string; readonly hash: string | undefined } | undefined;
}

/** The request to install a controller on a Seed, which the same parts always make the same. */
export function wantedInstallation({ registered, seed, deployment }: InstallationParts): ControllerInstallation {
  const refTo = (kind: { readonly apiVersion: string; readonly kind: string }, name: string) => ({
    ...typeMeta(kind),
    name,
  });
  return {
    ...typeMeta(ControllerInstallation),
    metadata: {
      name: installationName(registered.name, seed.name),
      labels: {
        [REGISTRATION_LABEL]: asLabel(registered.name),
        [INSTALLATION_SEED_LABEL]: asLabel(seed.name),
        [REGISTRATION_HASH_LABEL]: registered.specHash,
        [SEED_HASH_LABEL]: seed.hash,
        ...(deployment === undefined ? {} : { [DEPLOYMENT_HASH_LABEL]: deployment.hash ?? "missing" }),
      },
    },
    spec: {
      registrationRef: refTo(ControllerRegistration, registered.name),
      seedRef: refTo(Seed, seed.name),
      ...(deployment === undefined ? {} : { deploymentRef: refTo(ControllerDeployment, deployment.name) }),
    },
  };
}

/** Whether an installation asks already for what another one would. */
export const asksForSame = (one: ControllerInstallation, other: ControllerInstallation): boolean =>
  Object.entries(other.metadata.labels ?? {}).every(([key, value]) => one.metadata.labels?.[key] === value) &&
  one.spec.deploymentRef?.name === other.spec.deploymentRef?.name;

/**
 * The same for the same two, so that two managers make one. It begins a namespace's name in the seed, which has 63
 * characters; the hash tells apart what is cut off.
 */
export const installationName = (registration: string, seed: string): string =>
  `${registration
    .slice(0, 44)
    .replace(/[^a-z0-9]+$/, "")
    .replaceAll(".", "-")}-${hashOf([registration, seed]).slice(0, 8)}`;
