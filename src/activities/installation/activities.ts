import type { InstallationRef, InstallationRun } from "../../api/registration/run.ts";

/** What an installation asks for, as its workflow reads it. */
export interface InstallationView {
  readonly run: InstallationRun;
  /** What it asks for is what was installed last. */
  readonly installed?: true;
}

/** The activities of queue `garden` for installations. Each is safe to repeat. */
export interface InstallationGardenActivities {
  /** What is to be done for the installation now; null when it is gone, or not ours to do. */
  readInstallation(ref: InstallationRef): Promise<InstallationView | null>;
  /** Keeps the installation from going before what it has installed. */
  holdInstallation(run: InstallationRun): Promise<void>;
  /** Lets an installation go of which nothing is left. */
  releaseInstallation(run: InstallationRun): Promise<void>;
}

/** The activities of queue `seed-<name>` for installations. Each is safe to repeat. */
export interface InstallationSeedActivities {
  /** Makes the namespace in which the controller runs. */
  prepareExtensionNamespace(run: InstallationRun): Promise<void>;
  /** Deploys the seed's resource manager where the Namespace `garden` asks for it; any other seed has one by other hands. */
  deployResourceManager(run: InstallationRun): Promise<void>;
  /** Brings the controller's token and kubeconfig for the garden into its namespace. */
  deployGardenAccess(run: InstallationRun): Promise<void>;
  /** Renders the chart, says whether that went well, and has the resource manager apply what comes of it. */
  applyChart(run: InstallationRun): Promise<void>;
  /** Throws what is missing until the controller is installed, healthy and rolled out; then says that it is. */
  confirmInstalled(run: InstallationRun): Promise<void>;
  /** Throws as long as the seed has objects of a kind and type that the controller is in charge of. */
  confirmUnneeded(run: InstallationRun): Promise<void>;
  /** Has the resource manager take away all that the chart has made. */
  removeChart(run: InstallationRun): Promise<void>;
  /** Says that the controller is another's to install now, and that what the chart has made goes. */
  announceReplaced(run: InstallationRun): Promise<void>;
  /** Takes back all that was said of the installation, which is another's now. */
  withdrawStatus(run: InstallationRun): Promise<void>;
  /** Throws what is left until nothing of the installation is in the seed. */
  confirmRemoved(run: InstallationRun): Promise<void>;
}
