import { tellInstallation } from "../../activities/installation/conditions.ts";
import { keepGardenAccess, type GardenAccessDeps } from "../../activities/installation/garden-access.ts";
import { gardenSecrets } from "../../activities/installation/garden-kubeconfig.ts";
import { INSTALLATION_LABEL, REGISTRATION_HASH_LABEL } from "../../api/labels.ts";
import { GARDEN_NAMESPACE, installationNamespace } from "../../api/names.ts";
import { ControllerInstallation, ControllerRegistration, ManagedResource } from "../../api/index.ts";
import { installationHealth, type Finding } from "../../api/registration/health.ts";
import { needed } from "../../api/registration/demand.ts";
import { isHandedOver, isHeld } from "../../api/registration/installation.ts";
import { registeredOf, type Offer } from "../../api/registration/registered.ts";
import { createController, createReflector, Secret, unlessForbidden, type Reflector } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { createServedObjects } from "./served-objects.ts";

/** Both clusters under the seed's rights; `period` is ms, 30 s unless told otherwise, and how often is looked at what tells of no change. */
export interface InstallationCareDeps extends GardenAccessDeps {
  readonly seedName: string;
  readonly log: Logger;
  readonly period?: number;
}

/**
 * Says of each controller that is installed in the seed whether it is installed, healthy and rolled out, as the resource
 * manager says, and whether it is required: whether the seed has objects for it. Renews its access to the garden. What is installed
 * here is known from the seed; the garden is asked only when something has changed.
 */
export function createInstallationCare({ seedName, log, period = 30_000, ...deps }: InstallationCareDeps) {
  const { gardenClient, seedClient } = deps;
  const offersByName = new Map<string, { readonly hash: string | undefined; readonly offers: readonly Offer[] }>();
  const served = createServedObjects({
    seedClient,
    log,
    onChange(pair) {
      for (const [name, { offers }] of offersByName)
        if (offers.some((offer) => needed(offer) === needed(pair))) controller.enqueue({ name });
    },
  });

  /** What the registration offers: read again only where the installation says that it has changed. */
  const offersOf = async ({ metadata, spec }: ControllerInstallation): Promise<readonly Offer[]> => {
    const hash = metadata.labels?.[REGISTRATION_HASH_LABEL];
    const known = offersByName.get(metadata.name);
    if (known !== undefined && known.hash === hash) return known.offers;
    const name = spec.registrationRef.name ?? "";
    const registration = await gardenClient.read(ControllerRegistration, { name }).catch(unlessForbidden);
    const offers = registration === undefined ? [] : registeredOf(registration).offers;
    offersByName.set(metadata.name, { hash, offers });
    return offers;
  };

  const controller = createController({
    name: "installation-care",
    log,
    async reconcile({ name }) {
      const resource = resources.get(name, GARDEN_NAMESPACE);
      const installation = await gardenClient.read(ControllerInstallation, { name }).catch(unlessForbidden);
      if (installation?.spec.seedRef?.name !== seedName || !isHeld(installation)) return void offersByName.delete(name);
      if (isHandedOver(installation)) return { requeueAfter: period }; // until it is the operator's, or ours again
      const examples = await served.examples(await offersOf(installation));
      const findings = [...installationHealth(resource), required(examples)];
      await tellInstallation(gardenClient, installation, { writer: "perennial-installation-care", findings });
      return await renewAccess(name);
    },
  });

  /** Where there is a token, and the installation is not on its way out. */
  const renewAccess = async (name: string) => {
    const key = { namespace: installationNamespace(name), name: gardenSecrets.token };
    if (resources.get(name, GARDEN_NAMESPACE) === undefined) return undefined;
    if ((await seedClient.read(Secret, key)) === undefined) return undefined;
    const renewal = await keepGardenAccess(deps, { name });
    return { requeueAfter: Math.min(Math.max(renewal.getTime() - Date.now(), 1_000), LONGEST_PAUSE) };
  };

  const resources: Reflector<ManagedResource> = createReflector(seedClient, ManagedResource, {
    namespace: GARDEN_NAMESPACE,
    labelSelector: INSTALLATION_LABEL,
    log,
    onEvent: ({ object }) => controller.enqueue({ name: object.metadata.name }),
  });

  /** A seed without a resource manager does not know the kind: then nothing can be installed there yet. */
  const startOnceKnown = async () => {
    const known = await seedClient.types().then(
      (types) =>
        types.some(
          ({ kind, apiVersion }) => kind === ManagedResource.kind && apiVersion === ManagedResource.apiVersion,
        ),
      (error: unknown) => void log.debug({ err: error }, "cannot ask the seed for its kinds"),
    );
    if (stopped) return;
    if (known === true) {
      resources.start();
      controller.start();
    } else timer = setTimeout(() => void startOnceKnown(), period);
  };
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  return {
    start: () => void startOnceKnown(),
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await Promise.all([resources.stop(), served.stop()]);
      await controller.stop();
    },
  };
}

/** In ms: timers of Node count no further than 24 days; a day is soon enough to look again. */
const LONGEST_PAUSE = 86_400_000;

const required = (examples: readonly string[]): Finding =>
  examples.length > 0
    ? {
        type: "Required",
        status: "True",
        reason: "ExtensionObjectsExist",
        message: `The seed has objects that the controller is there for, such as ${examples.slice(0, 5).join(", ")}.`,
      }
    : {
        type: "Required",
        status: "False",
        reason: "NoExtensionObjects",
        message: "The seed has no object that the controller is there for.",
      };
