import type { ControllerInstallation } from "../../api/index.ts";
import { INSTALLATION_PENDING } from "../../api/registration/health.ts";
import type { Condition } from "../../api/schema/meta.ts";
import type { Occurrence } from "../../kube/index.ts";

/**
 * The Events of an installation whose conditions have changed: that its chart can be installed, that the controller is installed and
 * healthy, or is so no more, or that the seed refuses its objects. What is not installed or healthy yet is none, and neither is what was
 * there at the first look.
 */
export function occurrencesOf(
  installation: ControllerInstallation,
  old: ControllerInstallation | undefined,
): readonly Occurrence[] {
  if (old === undefined || old.metadata.uid !== installation.metadata.uid) return [];
  return (installation.status?.conditions ?? []).flatMap((now) => {
    const before = old.status?.conditions?.find(({ type }) => type === now.type);
    if (!isTold.has(now.type) || !isNews(now, before)) return [];
    const type = now.status === "True" ? "Normal" : "Warning";
    return [{ regarding: installation, type, reason: now.reason, action: "Install", note: now.message }];
  });
}

const isTold: ReadonlySet<string> = new Set(["Valid", "Installed", "Healthy"]);

/** Why a chart cannot be installed is news each time that it is another reason, and so is that its objects cannot be applied. */
function isNews(now: Condition, before: Condition | undefined): boolean {
  if (now.status === "True") return before?.status !== "True";
  if (now.status !== "False") return false;
  if (now.type === "Valid") return before?.status !== "False" || before.message !== now.message;
  const hasFailed = now.type === "Installed" && now.reason !== INSTALLATION_PENDING;
  return before?.status === "True" || (hasFailed && before?.reason !== now.reason);
}
