import type { z } from "zod";
import type { CloudProfile } from "../core/cloud-profile.ts";
import { defineResource } from "../schema/resource.ts";
import { object, raw } from "../schema/fields.ts";
import type { Seed } from "../core/seed.ts";
import type { Shoot } from "../shoot/shoot.ts";

const clusterSpec = object({
  cloudProfile: raw<CloudProfile>().describe("The Shoot's CloudProfile as it is in the garden."),
  seed: raw<Seed>().optional().describe("The Shoot's Seed as it is in the garden."),
  shoot: raw<Shoot>().describe("The Shoot as it is in the garden, with its status."),
});

/** What an extension controller knows of a Shoot: copies of the garden's objects, under the Shoot's technical ID. */
export const Cluster = defineResource({
  group: "extensions.gardener.cloud",
  version: "v1alpha1",
  kind: "Cluster",
  plural: "clusters",
  scope: "Cluster",
  description:
    "What an extension controller knows of a Shoot: copies of the garden's objects, under the Shoot's technical ID.",
  content: { spec: clusterSpec },
});

/** What an extension controller knows of a Shoot: copies of the garden's objects, under the Shoot's technical ID. */
export type Cluster = z.infer<typeof Cluster.schema>;
