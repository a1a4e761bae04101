import type { ManagedResource } from "../extensions/managed-resource.ts";
import type { Condition } from "../schema/meta.ts";

/** A condition of an installation, without its times. */
export type Finding = Pick<Condition, "type" | "reason" | "message"> & {
  readonly status: "True" | "False" | "Unknown";
};

/** The reason of an installation whose objects are not there yet, though none was refused. */
export const INSTALLATION_PENDING = "InstallationPending";

/**
 * What a ManagedResource says of an installation: `Installed`, `Healthy` and `Progressing`, in upstream's reasons, and why objects
 * could not be applied in the resource manager's. What it
 * says of an earlier generation counts for nothing, but for a failure: after one, the resource manager leaves the generation as it was.
 */
export function installationHealth(resource: ManagedResource | undefined): readonly [Finding, Finding, Finding] {
  const { conditions = [], observedGeneration } = resource?.status ?? {};
  const isCurrent = resource !== undefined && observedGeneration === resource.metadata.generation;
  const find = (type: string) => (isCurrent ? conditions.find((one) => one.type === type) : undefined);
  const failure = conditions.find(isFailure);
  const pending = whatIsPending(resource, failure);
  return [
    finding(
      { type: "Installed", good: "InstallationSuccessful", bad: failure?.reason ?? INSTALLATION_PENDING },
      failure ?? find("ResourcesApplied"),
      pending,
    ),
    finding(
      { type: "Healthy", good: "ControllerHealthy", bad: "ControllerNotHealthy" },
      find("ResourcesHealthy"),
      pending,
    ),
    progress(find("ResourcesProgressing"), pending),
  ];
}

/** While the resource manager tries again, it keeps reason and message of the last failure beside status Progressing. */
const isFailure = ({ type, status, reason }: Condition): boolean =>
  type === "ResourcesApplied" && (status === "False" || (status === "Progressing" && reason !== "ApplyProgressing"));

function whatIsPending(resource: ManagedResource | undefined, failure: Condition | undefined): string {
  if (resource === undefined) return "its manifests are not in the seed yet";
  if (failure !== undefined) return "its latest manifests are not applied yet";
  return "the seed's gardener-resource-manager has not acted on its latest manifests yet";
}

interface Naming {
  readonly type: string;
  readonly good: string;
  readonly bad: string;
}

function finding({ type, good, bad }: Naming, found: Condition | undefined, pending: string): Finding {
  if (found?.status === "True") return { type, status: "True", reason: good, message: found.message };
  return { type, status: "False", reason: bad, message: found?.message ?? pending };
}

function progress(found: Condition | undefined, pending: string): Finding {
  const type = "Progressing";
  if (found?.status === "False")
    return { type, status: "False", reason: "ControllerRolledOut", message: found.message };
  return { type, status: "True", reason: "ControllerNotRolledOut", message: found?.message ?? pending };
}
