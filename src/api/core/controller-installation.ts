import { z } from "zod";
import { conditions } from "../schema/meta.ts";
import { objectReference } from "../schema/references.ts";
import { defineResource } from "../schema/resource.ts";
import { object, raw, rules } from "../schema/fields.ts";

const controllerInstallationSpec = object({
  registrationRef: objectReference.describe("RegistrationRef is used to reference a ControllerRegistration resource."),
  seedRef: objectReference.optional().describe("SeedRef is used to reference a Seed resource."),
  shootRef: objectReference.optional().describe("ShootRef is used to reference a Shoot resource."),
  deploymentRef: objectReference
    .optional()
    .describe("DeploymentRef is used to reference a ControllerDeployment resource."),
  resourceRefs: z.array(objectReference).optional().describe("ResourceRefs is used to reference Resource resources."),
}).meta(
  rules(
    {
      rule: "!has(oldSelf.registrationRef.name) || has(self.registrationRef.name) && self.registrationRef.name == oldSelf.registrationRef.name",
      message: "cannot be changed",
      fieldPath: ".registrationRef",
    },
    {
      rule: "!has(oldSelf.seedRef) || has(self.seedRef) && (!has(oldSelf.seedRef.name) || has(self.seedRef.name) && self.seedRef.name == oldSelf.seedRef.name)",
      message: "cannot be changed",
      fieldPath: ".seedRef",
    },
  ),
);

const controllerInstallationStatus = object({
  conditions: conditions
    .optional()
    .describe("Conditions represents the latest available observations of a ControllerInstallations's current state."),
  providerStatus: raw().optional().describe("ProviderStatus contains type-specific status."),
});

/** An extension controller on one Seed. */
export const ControllerInstallation = defineResource({
  group: "core.gardener.cloud",
  version: "v1beta1",
  kind: "ControllerInstallation",
  plural: "controllerinstallations",
  shortNames: ["ctrlinst"],
  categories: ["all"],
  scope: "Cluster",
  description: "An extension controller on one Seed.",
  content: { spec: controllerInstallationSpec, status: controllerInstallationStatus.optional() },
  columns: [
    { name: "Registration", path: ".spec.registrationRef.name" },
    { name: "Seed", path: ".spec.seedRef.name" },
    { name: "Valid", path: '.status.conditions[?(@.type=="Valid")].status' },
    { name: "Installed", path: '.status.conditions[?(@.type=="Installed")].status' },
    { name: "Healthy", path: '.status.conditions[?(@.type=="Healthy")].status' },
    { name: "Progressing", path: '.status.conditions[?(@.type=="Progressing")].status' },
    { name: "Required", path: '.status.conditions[?(@.type=="Required")].status', priority: 1 },
  ],
});

/** An extension controller on one Seed. */
export type ControllerInstallation = z.infer<typeof ControllerInstallation.schema>;
