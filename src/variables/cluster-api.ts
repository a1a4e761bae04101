import * as z from "zod";
import { declare, path } from "./variable.ts";

/** What only the process of Cluster API's kinds reads. */
export const clusterApiVariables = declare({
  PERENNIAL_MANAGEMENT_KUBECONFIG: {
    setting: "managementKubeconfig",
    meaning:
      "The file of the kubeconfig of the cluster with Cluster API's objects; the garden's when it is not set. After a 401 the process reads it again.",
    schema: path,
    readBy: ["cluster-api", "CLI"],
  },
  PERENNIAL_MANAGEMENT_NAMESPACE: {
    setting: "managementNamespace",
    meaning: "The namespace of that cluster in which the process keeps its Lease and its webhooks' certificate.",
    schema: z.string().min(1).default("perennial"),
    readBy: ["cluster-api"],
  },
  PERENNIAL_GENERATE_CLUSTER_ENDPOINTS: {
    setting: "generatesEndpoints",
    meaning:
      "Whether a Cluster that has an endpoint and no ClusterEndpoint gets one: `true` or `false`. With `false`, what was generated before stays.",
    schema: z
      .enum(["true", "false"])
      .default("true")
      .transform((text) => text === "true"),
    readBy: ["cluster-api"],
    passedOn: true,
  },
});
