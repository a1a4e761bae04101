import { SHOOT_STATUS_LABEL } from "../../api/labels.ts";
import type { Shoot } from "../../api/index.ts";
import type { Column } from "../display/table.ts";
import { formatAge } from "../display/time.ts";
import { hibernation } from "./hibernation.ts";

/** Gardener's own columns of Shoots, with the namespace in front; in a narrow window the name and how it stands stay. */
export function shootColumns(now: number): readonly Column<Shoot>[] {
  return [
    { title: "NAMESPACE", value: ({ metadata }) => metadata.namespace },
    { title: "NAME", value: ({ metadata }) => metadata.name },
    { title: "CLOUDPROFILE", rank: 7, value: ({ spec }) => spec.cloudProfile?.name ?? spec.cloudProfileName },
    { title: "PROVIDER", rank: 6, value: ({ spec }) => spec.provider.type },
    { title: "REGION", rank: 5, value: ({ spec }) => spec.region },
    { title: "SEED", rank: 1, value: ({ spec, status }) => status?.seedName ?? spec.seedName },
    { title: "K8S VERSION", rank: 4, value: ({ spec }) => spec.kubernetes.version },
    { title: "HIBERNATION", rank: 3, value: hibernation },
    { title: "LAST OPERATION", value: lastOperation },
    { title: "STATUS", value: health },
    { title: "PURPOSE", wide: true, value: ({ spec }) => spec.purpose },
    { title: "APISERVER", wide: true, value: condition("APIServerAvailable") },
    { title: "CONTROL", wide: true, value: condition("ControlPlaneHealthy") },
    { title: "NODES", wide: true, value: condition("EveryNodeReady") },
    { title: "SYSTEM", wide: true, value: condition("SystemComponentsHealthy") },
    { title: "TECHNICAL ID", wide: true, value: ({ status }) => status?.technicalID },
    { title: "AGE", rank: 2, value: ({ metadata }) => formatAge(metadata.creationTimestamp, now) },
  ];
}

/** What was done last and how far it is, in Gardener's wording: Reconcile Succeeded (100%). */
export function lastOperation({ status }: Shoot): string {
  const last = status?.lastOperation;
  return last ? `${last.type} ${last.state} (${last.progress}%)` : "<pending>";
}

/** Gardener's status label: healthy, progressing, unhealthy or unknown; judged from the status where there is no label. */
export function health({ metadata, status }: Shoot): string {
  const label = metadata.labels?.[SHOOT_STATUS_LABEL];
  if (label) return label;
  const { lastOperation: last, conditions = [] } = status ?? {};
  if (!last) return "unknown";
  if (last.state === "Failed" || last.state === "Error") return "unhealthy";
  if (conditions.some((one) => one.status === "False")) return "unhealthy";
  if (last.state !== "Succeeded" || conditions.some((one) => one.status === "Progressing")) return "progressing";
  return conditions.some((one) => one.status === "Unknown") ? "unknown" : "healthy";
}

function condition(type: string): (shoot: Shoot) => string | undefined {
  return ({ status }) => status?.conditions?.find((one) => one.type === type)?.status;
}
