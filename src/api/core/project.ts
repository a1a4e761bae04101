import { z } from "zod";
import { conditions } from "../schema/meta.ts";
import { subject } from "../schema/references.ts";
import { defineResource } from "../schema/resource.ts";
import { openEnum, object, onceSet, raw, timestamp } from "../schema/fields.ts";

const projectMember = object({
  ...subject.shape,
  role: z.string().optional().describe("Role represents the role of this member."),
  roles: z.array(z.string()).optional().describe("Roles represents the list of roles of this member."),
});

const toleration = object({
  key: z.string().describe("Key is the toleration key to be applied to a project or shoot."),
  value: z.string().optional().describe("Value is the toleration value corresponding to the toleration key."),
});

const projectTolerations = object({
  defaults: z
    .array(toleration)
    .optional()
    .describe("Defaults contains a list of tolerations that are added to the shoots in this project by default."),
  whitelist: z
    .array(toleration)
    .optional()
    .describe("Whitelist contains a list of tolerations that are allowed to be added to the shoots in this project."),
});

const projectSpec = object({
  createdBy: subject
    .optional()
    .describe(
      "CreatedBy is a subject representing a user name, an email address, or any other identifier of a user who created the project.",
    ),
  description: z
    .string()
    .optional()
    .describe("Description is a human-readable description of what the project is used for."),
  owner: subject
    .optional()
    .describe(
      "Owner is a subject representing a user name, an email address, or any other identifier of a user owning the project.",
    ),
  purpose: z.string().optional().describe("Purpose is a human-readable explanation of the project's purpose."),
  members: z
    .array(projectMember)
    .meta({ maxItems: 5000 })
    .optional()
    .describe(
      "Members is a list of subjects representing a user name, an email address, or any other identifier of a user, group, or service account that has a certain role.",
    ),
  namespace: z
    .string()
    .optional()
    .describe("Namespace is the name of the namespace that has been created for the Project object."),
  tolerations: projectTolerations
    .optional()
    .describe("Tolerations contains the tolerations for taints on seed clusters."),
  dualApprovalForDeletion: z
    .array(raw())
    .optional()
    .describe("DualApprovalForDeletion contains configuration for the dual approval concept for resource deletion."),
}).meta(onceSet("namespace"));

const projectStatus = object({
  observedGeneration: z
    .int()
    .optional()
    .describe("ObservedGeneration is the most recent generation observed for this project."),
  phase: openEnum("Pending", "Ready", "Failed", "Terminating")
    .optional()
    .describe("Phase is the current phase of the project."),
  staleSinceTimestamp: timestamp()
    .optional()
    .describe("StaleSinceTimestamp contains the timestamp when the project was first discovered to be stale/unused."),
  staleAutoDeleteTimestamp: timestamp()
    .optional()
    .describe(
      "StaleAutoDeleteTimestamp contains the timestamp when the project will be garbage-collected/automatically deleted because it's stale/unused.",
    ),
  lastActivityTimestamp: timestamp()
    .optional()
    .describe("LastActivityTimestamp contains the timestamp from the last activity performed in this project."),
  conditions: conditions
    .optional()
    .describe("Conditions represents the latest available observations of a Project's current state."),
});

/** People who share Shoots, and the namespace that the Shoots are in. */
export const Project = defineResource({
  group: "core.gardener.cloud",
  version: "v1beta1",
  kind: "Project",
  plural: "projects",
  scope: "Cluster",
  description: "People who share Shoots, and the namespace that the Shoots are in.",
  content: { spec: projectSpec, status: projectStatus.optional() },
  columns: [
    { name: "Namespace", path: ".spec.namespace" },
    { name: "Owner", path: ".spec.owner.name" },
    { name: "Creator", path: ".spec.createdBy.name", priority: 1 },
  ],
});

/** People who share Shoots, and the namespace that the Shoots are in. */
export type Project = z.infer<typeof Project.schema>;
