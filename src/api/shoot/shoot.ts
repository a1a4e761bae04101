import type { z } from "zod";
import { defineResource } from "../schema/resource.ts";
import { shootSpec } from "./spec.ts";
import { shootStatus } from "./status.ts";

/** A Kubernetes cluster that we create, keep up and delete. */
export const Shoot = defineResource({
  group: "core.gardener.cloud",
  version: "v1beta1",
  kind: "Shoot",
  plural: "shoots",
  categories: ["all"],
  scope: "Namespaced",
  description: "A Kubernetes cluster that we create, keep up and delete.",
  content: { spec: shootSpec, status: shootStatus.optional() },
  columns: [
    { name: "CloudProfile", path: ".spec.cloudProfile.name" },
    { name: "Provider", path: ".spec.provider.type" },
    { name: "Region", path: ".spec.region" },
    { name: "Seed", path: ".spec.seedName", priority: 1 },
    { name: "K8S Version", path: ".spec.kubernetes.version" },
    { name: "Hibernation", path: ".status.hibernated", type: "boolean" },
    { name: "Last Operation", path: ".status.lastOperation.type" },
    { name: "State", path: ".status.lastOperation.state" },
    { name: "Progress", path: ".status.lastOperation.progress", type: "integer" },
    { name: "Purpose", path: ".spec.purpose", priority: 1 },
    { name: "Gardener Version", path: ".status.gardener.version", priority: 1 },
    { name: "APIServer", path: '.status.conditions[?(@.type=="APIServerAvailable")].status', priority: 1 },
    { name: "Control", path: '.status.conditions[?(@.type=="ControlPlaneHealthy")].status', priority: 1 },
    { name: "Nodes", path: '.status.conditions[?(@.type=="EveryNodeReady")].status', priority: 1 },
    { name: "System", path: '.status.conditions[?(@.type=="SystemComponentsHealthy")].status', priority: 1 },
  ],
});

/** A Kubernetes cluster that we create, keep up and delete. */
export type Shoot = z.infer<typeof Shoot.schema>;
