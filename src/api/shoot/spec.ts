import { z } from "zod";
import { accessRestrictionWithOptions } from "../core/access-restriction.ts";
import { extensionReference } from "../core/extension-reference.ts";
import { namedResourceReference, toleration } from "../schema/references.ts";
import { object, onceSet, raw } from "../schema/fields.ts";
import { dnsSubdomain, labelValue, optionalName } from "../schema/syntax.ts";
import { seedSelector } from "../core/seed-selector.ts";
import { highAvailability } from "./availability.ts";
import { kubernetes } from "./kubernetes.ts";
import { hibernation, maintenance } from "./maintenance.ts";
import { dns, networking } from "./networking.ts";
import { provider } from "./provider.ts";

const nodeLocalDNS = object({
  enabled: z.boolean().describe("Enabled indicates whether node local DNS is enabled or not."),
  forceTCPToClusterDNS: z
    .boolean()
    .optional()
    .describe(
      "ForceTCPToClusterDNS indicates whether the connection from the node local DNS to the cluster DNS (Core DNS) will be forced to TCP or not.",
    ),
  forceTCPToUpstreamDNS: z
    .boolean()
    .optional()
    .describe(
      "ForceTCPToUpstreamDNS indicates whether the connection from the node local DNS to the upstream DNS (infrastructure DNS) will be forced to TCP or not.",
    ),
  disableForwardToUpstreamDNS: z
    .boolean()
    .optional()
    .describe(
      "DisableForwardToUpstreamDNS indicates whether requests from node local DNS to upstream DNS should be disabled.",
    ),
});

const systemComponents = object({
  coreDNS: raw()
    .optional()
    .describe(
      "CoreDNS contains the settings of the Core DNS components running in the data plane of the Shoot cluster.",
    ),
  nodeLocalDNS: nodeLocalDNS
    .optional()
    .describe(
      "NodeLocalDNS contains the settings of the node local DNS components running in the data plane of the Shoot cluster.",
    ),
});

const controlPlane = object({
  highAvailability: highAvailability
    .optional()
    .describe(
      "HighAvailability holds the configuration settings for high availability of the control plane of a shoot.",
    ),
  zones: z
    .array(labelValue())
    .meta({ maxItems: 30 })
    .optional()
    .describe("Zones is a list of availability zones in which the control plane components should be placed."),
});

const cloudProfileReference = object({
  kind: z
    .string()
    .meta({ enum: ["CloudProfile", "NamespacedCloudProfile"], default: "CloudProfile" })
    .describe("Kind contains a CloudProfile kind."),
  name: dnsSubdomain().describe("Name contains the name of the referenced CloudProfile."),
});

/** In CEL: the prefix length of each node's pods, also where nothing says it. */
const nodeMask = "kubernetes.?kubeControllerManager.?nodeCIDRMaskSize.orValue(24)";

/** ShootSpec is the specification of a Shoot. */
export const shootSpec = object({
  addons: raw()
    .optional()
    .describe("Addons contains information about enabled/disabled addons and their configuration. Deprecated."),
  cloudProfileName: optionalName()
    .optional()
    .describe("CloudProfileName is a name of a CloudProfile object. Deprecated."),
  dns: dns.optional().describe("DNS contains information about the DNS settings of the Shoot."),
  extensions: z
    .array(extensionReference)
    .meta({ maxItems: 100 })
    .optional()
    .describe("Extensions contain type and provider information for Shoot extensions."),
  hibernation: hibernation
    .optional()
    .describe("Hibernation contains information whether the Shoot is suspended or not."),
  kubernetes: kubernetes.describe(
    "Kubernetes contains the version and configuration settings of the control plane components.",
  ),
  networking: networking
    .optional()
    .describe("Networking contains information about cluster networking such as CNI Plugin type, CIDRs, ...etc."),
  maintenance: maintenance
    .optional()
    .describe(
      "Maintenance contains information about the time window for maintenance operations and which operations should be performed.",
    ),
  monitoring: raw()
    .optional()
    .describe("Monitoring contains information about custom monitoring configurations for the shoot."),
  provider: provider.describe("Provider contains all provider-specific and provider-relevant information."),
  purpose: z
    .enum(["evaluation", "testing", "development", "production", "infrastructure"])
    .meta({ default: "evaluation" })
    .optional()
    .describe("Purpose is the purpose class for this cluster."),
  region: z.string().describe("Region is a name of a region. This field is immutable."),
  secretBindingName: optionalName()
    .optional()
    .describe(
      "SecretBindingName is the name of a SecretBinding that has a reference to the provider secret. Deprecated.",
    ),
  seedName: optionalName()
    .optional()
    .describe("SeedName is the name of the seed cluster that runs the control plane of the Shoot."),
  seedSelector: seedSelector
    .optional()
    .describe(
      "SeedSelector is an optional selector which must match a seed's labels for the shoot to be scheduled on that seed.",
    ),
  resources: z
    .array(namedResourceReference)
    .meta({ maxItems: 100 })
    .optional()
    .describe(
      "Resources holds a list of named resource references that can be referred to in extension configs by their names.",
    ),
  tolerations: z
    .array(toleration)
    .meta({ maxItems: 50 })
    .optional()
    .describe("Tolerations contains the tolerations for taints on seed clusters."),
  exposureClassName: optionalName()
    .optional()
    .describe(
      "ExposureClassName is the optional name of an exposure class to apply a control plane endpoint exposure strategy.",
    ),
  systemComponents: systemComponents
    .optional()
    .describe(
      "SystemComponents contains the settings of system components in the control or data plane of the Shoot cluster.",
    ),
  controlPlane: controlPlane
    .optional()
    .describe("ControlPlane contains general settings for the control plane of the shoot."),
  schedulerName: dnsSubdomain()
    .meta({ default: "default-scheduler" })
    .optional()
    .describe("SchedulerName is the name of the responsible scheduler which schedules the shoot."),
  cloudProfile: cloudProfileReference
    .optional()
    .describe("CloudProfile contains a reference to a CloudProfile or a NamespacedCloudProfile."),
  credentialsBindingName: optionalName()
    .optional()
    .describe(
      "CredentialsBindingName is the name of a CredentialsBinding that has a reference to the provider credentials.",
    ),
  accessRestrictions: z
    .array(accessRestrictionWithOptions)
    .meta({ maxItems: 50 })
    .optional()
    .describe("AccessRestrictions describe a list of access restrictions for this shoot cluster."),
}).meta({
  "x-kubernetes-validations": [
    ...onceSet("region", "schedulerName", "exposureClassName")["x-kubernetes-validations"],
    // What is immutable in an object that may be absent could be changed by taking the object away first.
    {
      rule: "!has(oldSelf.dns) || !has(oldSelf.dns.domain) || has(self.dns)",
      message: "dns cannot be removed once it has a domain",
      fieldPath: ".dns",
    },
    {
      rule: "!has(oldSelf.networking) || has(self.networking)",
      message: "networking cannot be removed once it is set",
      fieldPath: ".networking",
    },
    {
      rule: `self.${nodeMask} == oldSelf.${nodeMask}`,
      message: "nodeCIDRMaskSize cannot be changed: nodes keep the networks that they got",
      fieldPath: ".kubernetes.kubeControllerManager.nodeCIDRMaskSize",
    },
    {
      rule: "!(has(self.secretBindingName) && has(self.credentialsBindingName))",
      message: "secretBindingName and credentialsBindingName exclude each other: keep credentialsBindingName",
      fieldPath: ".secretBindingName",
    },
  ],
});
