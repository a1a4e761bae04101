import { ControllerDeployment } from "../../api/index.ts";
import { readDeployment } from "../../api/registration/deployment.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { defineKind, typeMeta } from "../../kube/index.ts";

/** What is remembered of a ControllerDeployment: the Secrets that it takes to pull its chart. Charts are large. */
export interface ChartAccess extends KubeObject {
  readonly secrets?: readonly string[];
}

/** ControllerDeployments, of which this is all that is looked at. */
export const ChartAccess = defineKind<ChartAccess, "Cluster">({ ...typeMeta(ControllerDeployment), scope: "Cluster" });

/** Takes from a ControllerDeployment what is to be remembered. */
export function toChartAccess({ apiVersion, kind, metadata, ...content }: ChartAccess): ChartAccess {
  const reading = readDeployment({ ...content, metadata });
  const chart = reading.is === "helm" ? reading.helm.chart : undefined;
  const named = chart?.in === "registry" ? [chart.pullSecret, chart.caSecret] : [];
  return { apiVersion, kind, metadata, secrets: named.flatMap((name) => (name === undefined ? [] : [name])) };
}
