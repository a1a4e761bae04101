import { KEEP_OBJECT_ANNOTATION, ZONES_ANNOTATION } from "../../api/annotations.ts";
import { counted, listed } from "../../api/counted.ts";
import { HIGH_AVAILABILITY_LABEL, INSTALLATION_LABEL, REGISTRATION_LABEL, ROLE_LABEL } from "../../api/labels.ts";
import { GARDEN_NAMESPACE, installationNamespace } from "../../api/names.ts";
import { ControllerRegistration, Seed, type ControllerInstallation } from "../../api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { installationHealth, type Finding } from "../../api/registration/health.ts";
import type { HelmStatus } from "../../api/registration/installation.ts";
import { asLabel, registeredOf } from "../../api/registration/registered.ts";
import type { InstallationRun } from "../../api/registration/run.ts";
import {
  Namespace,
  readClusterIdentity,
  refOf,
  refTo,
  Secret,
  typeMeta,
  unlessForbidden,
  type KubeClient,
} from "../../kube/index.ts";
import { guarded } from "../failure.ts";
import { StepError } from "../step-error.ts";
import { deploySeedResourceManager, isAskedForResourceManager } from "../managed-resources/seed-resource-manager.ts";
import type { InstallationSeedActivities } from "./activities.ts";
import { tellInstallation } from "./conditions.ts";
import { objectsServed } from "./extension-objects.ts";
import { keepGardenAccess, type GardenAccessDeps } from "./garden-access.ts";
import { withGardenKubeconfig } from "./garden-kubeconfig.ts";
import type { Helm } from "./helm.ts";
import { InvalidInstallation } from "./invalid.ts";
import { managedResourceOf, managedResourceRef, manifestsSelector } from "./managed-resource.ts";
import { confirmUnclaimed } from "./claims.ts";
import { renderChart } from "./render.ts";
import { tellReplaced, withdrawReplaced } from "./replacement.ts";
import { fetchChart, readHelmDeployment, readInstallation, readMethod } from "./source.ts";
import { chartValues } from "./values.ts";

/** Both clusters, under the seed's rights; Helm; and where the garden is, for extensions. */
export interface InstallationSeedDeps extends GardenAccessDeps {
  readonly helm: Helm;
}

/** What is done in a seed to install a controller, to upgrade it and to take it away. Contract section C8.2. */
export function createInstallationSeedActivities(deps: InstallationSeedDeps): InstallationSeedActivities {
  const { gardenClient, seedClient } = deps;

  return guarded<InstallationSeedActivities>({
    async prepareExtensionNamespace({ name, registration, seedName }) {
      const seed = await gardenClient.read(Seed, { name: seedName });
      const labels = {
        [ROLE_LABEL]: "extension",
        [REGISTRATION_LABEL]: asLabel(registration),
        [INSTALLATION_LABEL]: name,
        [HIGH_AVAILABILITY_LABEL]: "true",
      };
      const annotations = { [ZONES_ANNOTATION]: (seed?.spec.provider.zones ?? []).join(",") };
      await seedClient.apply({ ...typeMeta(Namespace), metadata: { name: GARDEN_NAMESPACE } });
      await seedClient.apply({
        ...typeMeta(Namespace),
        metadata: { name: installationNamespace(name), labels, annotations },
      });
    },

    async deployResourceManager() {
      if (await isAskedForResourceManager(seedClient)) await deploySeedResourceManager(seedClient);
    },

    deployGardenAccess: async (run) => void (await keepGardenAccess(deps, run)),

    async applyChart(run) {
      const installation = await findInstallation(gardenClient, run);
      try {
        const { secrets, resource } = managedResourceOf(run, await render(deps, run, installation));
        for (const secret of secrets) await seedClient.apply(secret);
        await confirmUnclaimed(seedClient, run.name).catch(async (error: unknown) => {
          await removeUnusedManifests(seedClient, run.name);
          throw error;
        });
        await tell(gardenClient, installation, valid);
        await seedClient.apply(resource);
      } catch (error) {
        if (error instanceof InvalidInstallation) await tell(gardenClient, installation, invalid(error));
        throw error;
      }
    },

    async confirmInstalled(run) {
      const resource = await seedClient.read(managedResourceRef(run.name));
      const missing = installationHealth(resource).find(
        ({ type, status }) => (status === "True") === (type === "Progressing"),
      );
      if (missing !== undefined) throw new StepError(`it is not ${goal(missing)}: ${missing.message}`);
      await removeUnusedManifests(seedClient, run.name);
      const installation = await findInstallation(gardenClient, run);
      const done: HelmStatus = { apiVersion: "perennial.dev/v1alpha1", kind: "HelmInstallation", hash: run.hash };
      await tell(gardenClient, installation, valid, done);
    },

    async confirmUnneeded({ registration }) {
      const found = await gardenClient.read(ControllerRegistration, { name: registration }).catch(unlessForbidden);
      const objects = found === undefined ? [] : await objectsServed(seedClient, registeredOf(found).offers);
      if (objects.length === 0) return;
      throw new StepError(`it is still needed by ${counted(objects.length, "object")}: ${listed(objects, 5)}`);
    },

    removeChart: ({ name }) => seedClient.remove(managedResourceRef(name)),

    async announceReplaced(run) {
      const installation = await findInstallation(gardenClient, run);
      await tellReplaced(gardenClient, installation, await readMethod(gardenClient, installation));
    },

    withdrawStatus: async (run) => withdrawReplaced(gardenClient, await findInstallation(gardenClient, run)),

    async confirmRemoved({ name }) {
      const resource = await seedClient.read(managedResourceRef(name));
      if (resource !== undefined) {
        const [installed] = installationHealth(resource);
        throw new StepError(`the resource manager has not taken away all of it yet: ${installed.message}`);
      }
      await removeUnusedManifests(seedClient, name);
      const namespace = refTo(Namespace, { name: installationNamespace(name) });
      if ((await seedClient.read(namespace))?.metadata.annotations?.[KEEP_OBJECT_ANNOTATION] === "true") return;
      await seedClient.remove(namespace);
      if (await seedClient.read(namespace)) throw new StepError(`Namespace ${namespace.name} is still terminating`);
    },
  });
}

async function findInstallation(gardenClient: KubeClient, run: InstallationRun): Promise<ControllerInstallation> {
  const found = await readInstallation(gardenClient, run);
  if (found !== undefined) return found;
  throw new StepError(`ControllerInstallation ${run.name} is gone`);
}

/** The objects that the registration's chart makes for this Seed. */
async function render(
  { gardenClient, seedClient, helm }: InstallationSeedDeps,
  { name, registration, seedName }: InstallationRun,
  installation: ControllerInstallation,
): Promise<readonly KubeObject[]> {
  const seed = await gardenClient.read(Seed, { name: seedName });
  if (seed === undefined) throw new InvalidInstallation("SeedNotFound", `there is no Seed ${seedName}`);
  const { chart: source, values, injectGardenKubeconfig } = await readHelmDeployment(gardenClient, installation);
  const chart = await fetchChart({ gardenClient, helm }, source);
  const gardenIdentity = await readClusterIdentity(gardenClient);
  const garden = await gardenClient.read(Namespace, { name: GARDEN_NAMESPACE }).catch(unlessForbidden);
  const { gitVersion } = (await seedClient.get("/version")) as { gitVersion: string };
  const mixedIn = { seed, gardenIdentity, gardenIdentifier: garden?.metadata.uid };
  const namespace = installationNamespace(name);
  const objects = await renderChart(helm, {
    chart,
    release: registration.length <= LONGEST_RELEASE ? registration : name,
    namespace,
    values: chartValues(values, mixedIn),
    kubeVersion: gitVersion,
  });
  return injectGardenKubeconfig ? withGardenKubeconfig(objects, seedName) : objects;
}

/** In characters: what Helm takes for the name of a release; that of an installation is no longer. */
const LONGEST_RELEASE = 53;

const valid: Finding = {
  type: "Valid",
  status: "True",
  reason: "RegistrationValid",
  message: "The chart can be rendered.",
};

const invalid = ({ reason, message }: InvalidInstallation): Finding => ({
  type: "Valid",
  status: "False",
  reason,
  message,
});

const tell = (
  gardenClient: KubeClient,
  installation: ControllerInstallation,
  finding: Finding,
  providerStatus?: HelmStatus,
) =>
  tellInstallation(gardenClient, installation, {
    writer: "perennial-installation",
    findings: [finding],
    ...(providerStatus === undefined ? {} : { providerStatus: { ...providerStatus } }),
  });

const goal = ({ type }: Finding): string => (type === "Progressing" ? "rolled out" : type.toLowerCase());

/** Those of earlier charts and values, and those that were never applied: what its ManagedResource does not name. */
async function removeUnusedManifests(seedClient: KubeClient, installation: string): Promise<void> {
  const used = (await seedClient.read(managedResourceRef(installation)))?.spec.secretRefs.map(({ name }) => name) ?? [];
  const labelSelector = manifestsSelector(installation);
  const secrets = await seedClient.list(Secret, { namespace: GARDEN_NAMESPACE, labelSelector });
  for (const secret of secrets) if (!used.includes(secret.metadata.name)) await seedClient.remove(refOf(secret));
}
