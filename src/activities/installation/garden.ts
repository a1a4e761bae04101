import { INSTALLATION_FINALIZER } from "../../api/names.ts";
import { ControllerInstallation, Seed, type KubeObject } from "../../api/index.ts";
import { installedHash, isHeld, wantedHash } from "../../api/registration/installation.ts";
import type { DeploymentReading } from "../../api/registration/deployment.ts";
import type { InstallationRun } from "../../api/registration/run.ts";
import { refTo, unlessGone, type KubeClient } from "../../kube/index.ts";
import { guarded } from "../failure.ts";
import type { InstallationGardenActivities } from "./activities.ts";
import { InvalidInstallation } from "./invalid.ts";
import { readInstallation, readMethod } from "./source.ts";

/** The garden, and how long, in ms, seeds may be silent and errors are retried. */
export interface InstallationGardenDeps {
  readonly gardenClient: KubeClient;
  readonly periods: Pick<InstallationRun, "seedDeadline" | "retryDuration">;
}

/** What is done in the garden for installations. */
export function createInstallationGardenActivities({
  gardenClient,
  periods,
}: InstallationGardenDeps): InstallationGardenActivities {
  const changeFinalizers = async (
    run: InstallationRun,
    change: (finalizers: readonly string[]) => readonly string[],
  ) => {
    const found = await readInstallation(gardenClient, run);
    if (found === undefined) return;
    const { resourceVersion, finalizers = [] } = found.metadata;
    const changed = change(finalizers);
    if (changed.length === finalizers.length) return;
    const patch = { metadata: { resourceVersion, finalizers: changed } };
    await unlessGone(gardenClient.patch(refTo(ControllerInstallation, { name: run.name }), patch));
  };

  return guarded<InstallationGardenActivities>({
    async readInstallation(ref) {
      const installation = await readInstallation(gardenClient, ref);
      if (installation === undefined) return null;
      const operation = operationOf(installation);
      const seedName = installation.spec.seedRef?.name;
      if (operation === undefined || seedName === undefined) return null;
      const method = await readMethodOf(gardenClient, installation);
      const isLeft = operation !== "Delete" && method?.is === "other";
      if (isLeft && !isToBeRemoved(installation)) return null;
      const seedExists = (await gardenClient.read(Seed, { name: seedName })) !== undefined;
      const { registrationRef } = installation.spec;
      const what = isLeft ? ({ operation: "Delete", replaced: true } as const) : { operation };
      const facts = { ...what, registration: registrationRef.name ?? "", seedName, seedExists };
      return {
        run: { ...ref, ...facts, hash: wantedHash(installation), gardenAccess: asksForAccess(method), ...periods },
        ...(isInstalled(installation) ? { installed: true } : {}),
      };
    },
    holdInstallation: (run) =>
      changeFinalizers(run, (all) => (all.includes(INSTALLATION_FINALIZER) ? all : [...all, INSTALLATION_FINALIZER])),
    releaseInstallation: (run) => changeFinalizers(run, (all) => all.filter((one) => one !== INSTALLATION_FINALIZER)),
  });
}

const asksForAccess = (method: DeploymentReading | undefined): boolean =>
  method?.is === "helm" && method.helm.injectGardenKubeconfig;

/** What an installation asks for; undefined where only others have something left to do. */
function operationOf(installation: ControllerInstallation): InstallationRun["operation"] | undefined {
  if (isDeleted(installation)) return isHeld(installation) ? "Delete" : undefined;
  return installedHash(installation) === undefined ? "Create" : "Reconcile";
}

/** Whether it is installed as it is asked for, and is to stay. */
const isInstalled = (installation: ControllerInstallation): boolean =>
  !isDeleted(installation) && installedHash(installation) === wantedHash(installation);

/** Whether Perennial has something to take away of an installation that it is to leave to others. */
const isToBeRemoved = (installation: ControllerInstallation): boolean =>
  isHeld(installation) && !isInstalled(installation);

const isDeleted = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

/** Undefined where the registration or the deployment is not there: the flow says so. */
async function readMethodOf(
  gardenClient: KubeClient,
  installation: ControllerInstallation,
): Promise<DeploymentReading | undefined> {
  try {
    return await readMethod(gardenClient, installation);
  } catch (error) {
    if (error instanceof InvalidInstallation) return undefined;
    throw error;
  }
}
