import { ControllerInstallation } from "../../api/index.ts";
import type { DeploymentReading } from "../../api/registration/deployment.ts";
import { isHandedOver, type HelmRemoval } from "../../api/registration/installation.ts";
import { refTo, setCondition, type KubeClient, type MergePatch } from "../../kube/index.ts";

/**
 * Puts into the place of all that was said of an installation that it goes, because its deployment leaves it to an operator.
 * Safe to repeat: what the operator has said since stays.
 */
export async function tellReplaced(
  gardenClient: KubeClient,
  installation: ControllerInstallation,
  reading: DeploymentReading,
): Promise<void> {
  if (isHandedOver(installation)) return;
  const what = reading.is === "other" && reading.type !== "" ? `is ${reading.type}` : "is not helm";
  const message = `The deployment's type ${what} now: what the chart has made is taken away, then an operator installs the controller.`;
  const said = (type: string, status: "True" | "False") => ({ type, status, reason: REASON, message });
  const conditions = setCondition(setCondition([], said("Installed", "False")), said("Progressing", "True"));
  const providerStatus: HelmRemoval = { apiVersion: "perennial.dev/v1alpha1", kind: "HelmRemoval" };
  await patchStatus(gardenClient, installation, { conditions, providerStatus: { hash: null, ...providerStatus } });
}

/** Takes that back; what the operator has said meanwhile stays. */
export async function withdrawReplaced(gardenClient: KubeClient, installation: ControllerInstallation): Promise<void> {
  const { conditions = [] } = installation.status ?? {};
  const others = conditions.filter(({ reason }) => reason !== REASON);
  const own = isHandedOver(installation) ? { providerStatus: null } : {};
  await patchStatus(gardenClient, installation, { conditions: others, ...own });
}

const REASON = "ControllerReplaced";

/** A status that has changed meanwhile is a conflict: the step begins again. */
async function patchStatus(
  gardenClient: KubeClient,
  { metadata: { name, resourceVersion } }: ControllerInstallation,
  status: MergePatch,
): Promise<void> {
  const patch = { metadata: { resourceVersion }, status };
  await gardenClient.patch(refTo(ControllerInstallation, { name }), patch, { subresource: "status" });
}
