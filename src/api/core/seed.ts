import type { z } from "zod";
import { defineResource } from "../schema/resource.ts";
import { seedSpec, seedStatus } from "./seed-spec.ts";

/** A cluster that runs control planes of Shoots. */
export const Seed = defineResource({
  group: "core.gardener.cloud",
  version: "v1beta1",
  kind: "Seed",
  plural: "seeds",
  scope: "Cluster",
  description: "A cluster that runs control planes of Shoots.",
  content: { spec: seedSpec, status: seedStatus.optional() },
  columns: [
    { name: "Last Operation", path: ".status.lastOperation.type" },
    { name: "State", path: ".status.lastOperation.state" },
    { name: "Ready", path: '.status.conditions[?(@.type=="GardenletReady")].status' },
    { name: "Provider", path: ".spec.provider.type" },
    { name: "Region", path: ".spec.provider.region" },
    { name: "Version", path: ".status.gardener.version", priority: 1 },
    { name: "K8S Version", path: ".status.kubernetesVersion" },
  ],
});

/** A cluster that runs control planes of Shoots. */
export type Seed = z.infer<typeof Seed.schema>;
