import type { z } from "zod";
import { cloudProfileSpec, cloudProfileStatus } from "./cloud-profile-spec.ts";
import { defineResource } from "../schema/resource.ts";

/** What a provider offers: Kubernetes versions, machine types and images, regions and volume types. */
export const CloudProfile = defineResource({
  group: "core.gardener.cloud",
  version: "v1beta1",
  kind: "CloudProfile",
  plural: "cloudprofiles",
  shortNames: ["cprofile", "cpfl"],
  scope: "Cluster",
  description: "What a provider offers: Kubernetes versions, machine types and images, regions and volume types.",
  content: { spec: cloudProfileSpec, status: cloudProfileStatus.optional() },
  columns: [{ name: "Type", path: ".spec.type" }],
});

/** What a provider offers: Kubernetes versions, machine types and images, regions and volume types. */
export type CloudProfile = z.infer<typeof CloudProfile.schema>;
