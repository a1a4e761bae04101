import type { Answer } from "../../admission/index.ts";
import type { Cluster } from "../../api/cluster-api/index.ts";
import type { ClusterApiWebhook } from "../webhook.ts";
import { needsNoInfrastructure, withoutInfrastructure } from "./not-required.ts";

/**
 * Puts core's word on a Cluster without infrastructure right while it is written (CE-20 to 22): `InfrastructureReady` is True with
 * reason NotRequired. While this process is away core's own word is written, and mended afterwards.
 */
export const clusterStatusWebhook: ClusterApiWebhook = {
  name: "clusters-status",
  kind: "Mutating",
  group: "cluster.x-k8s.io",
  version: "v1beta2",
  resources: ["clusters/status"],
  operations: ["UPDATE"],
  matchConditions: [
    {
      name: "no-infrastructure",
      expression: "!has(object.spec.infrastructureRef) && !has(object.spec.topology)",
    },
  ],
  failurePolicy: "Ignore",
  create: () => async (request) => judgeStatus(request.object as Cluster | undefined, request.oldObject as Cluster),
};

function judgeStatus(cluster: Cluster | undefined, stored: Cluster | undefined): Answer {
  const conditions = cluster?.status?.conditions;
  if (cluster === undefined || conditions === undefined || !needsNoInfrastructure(cluster)) return { allowed: true };
  const value = withoutInfrastructure(conditions, stored?.status?.conditions);
  return value === conditions
    ? { allowed: true }
    : { allowed: true, patch: [{ op: "replace", path: "/status/conditions", value }] };
}
