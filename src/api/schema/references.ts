import { z } from "zod";
import { object, raw, timestamp } from "./fields.ts";
import { apiVersion, camelCase, dnsSubdomain, identifier, labelKey, labelValue, optionalName } from "./syntax.ts";

/** Names an object anywhere. */
export const objectReference = object({
  apiVersion: apiVersion().optional().describe("API version of the object."),
  kind: camelCase().optional().describe("Kind of the object."),
  namespace: optionalName().optional().describe("Namespace of the object."),
  name: optionalName().optional().describe("Name of the object."),
  uid: z.string().optional().describe("UID of the object."),
  resourceVersion: z.string().optional().describe("Resource version of the object."),
  fieldPath: z.string().optional().describe("Part of the object that is meant."),
});

/** Names a Secret. */
export const secretReference = object({
  name: optionalName().optional().describe("Name of the Secret."),
  namespace: optionalName().optional().describe("Namespace of the Secret."),
});

/** Names an object of some kind in the same namespace. */
export const crossVersionReference = object({
  apiVersion: apiVersion().optional().describe("API version of the object."),
  kind: camelCase().describe("Kind of the object."),
  name: dnsSubdomain().describe("Name of the object."),
});

/** Names one key of a Secret in the same namespace. */
export const secretKeySelector = object({
  name: z.string().optional().describe("Name of the Secret."),
  key: z.string().describe("Key in the Secret's data."),
  optional: z.boolean().optional().describe("Whether the Secret or its key may be missing."),
});

/** An object that extensions' configurations refer to by a name of its own. */
export const namedResourceReference = object({
  name: identifier().describe("Name by which the object is referred to."),
  resourceRef: crossVersionReference.describe("The object, in the Shoot's project namespace."),
});

/** The content of a referenced object, kept for a restore. */
export const resourceData = object({
  ...crossVersionReference.shape,
  data: raw().describe("The object's content."),
});

/** Chooses objects by their labels. */
export const labelSelector = object({
  matchLabels: z
    .record(z.string(), labelValue())
    .meta({ maxProperties: 100 })
    .optional()
    .describe("Labels that an object must have."),
  matchExpressions: z
    .array(
      object({
        key: labelKey().describe("Key of the label."),
        operator: z
          .string()
          .meta({ enum: ["In", "NotIn", "Exists", "DoesNotExist"] })
          .describe("In, NotIn, Exists or DoesNotExist."),
        values: z.array(labelValue()).meta({ maxItems: 100 }).optional().describe("Values for In and NotIn."),
      }),
    )
    .optional()
    .describe("Requirements that an object's labels must meet."),
});

/** Keeps pods away from a node. */
export const taint = object({
  key: labelKey().describe("Key of the taint."),
  value: labelValue().optional().describe("Value of the taint."),
  effect: z
    .string()
    .meta({ enum: ["NoSchedule", "PreferNoSchedule", "NoExecute"] })
    .describe("NoSchedule, PreferNoSchedule or NoExecute."),
  timeAdded: timestamp().optional().describe("When the taint was added."),
});

/** Accepts a taint of a Seed. */
export const toleration = object({
  key: labelKey().describe("Key of the taint."),
  value: labelValue().optional().describe("Value of the taint."),
});

/** Address of a node. */
export const nodeAddress = object({
  type: z.string().describe("InternalIP, ExternalIP, Hostname, InternalDNS or ExternalDNS."),
  address: z.string().describe("The address."),
});

/** Where a load balancer can be reached. */
export const loadBalancerIngress = object({
  ip: z.string().optional().describe("IP address."),
  hostname: z.string().optional().describe("Host name."),
  ipMode: z.string().optional().describe("How packets reach the address: VIP or Proxy."),
  ports: z
    .array(
      object({
        port: z.int32().describe("Number of the port."),
        protocol: z.string().describe("TCP, UDP or SCTP."),
        error: z.string().optional().describe("Why the port cannot be used."),
      }),
    )
    .optional()
    .describe("Ports and their state."),
});

/** A range of addresses with exceptions. */
export const ipBlock = object({
  cidr: z.string().describe("The range."),
  except: z.array(z.string()).optional().describe("Ranges within it that are left out."),
});

/** A user, a group or a service account. */
export const subject = object({
  kind: z.string().describe("User, Group or ServiceAccount."),
  apiGroup: z.string().optional().describe("API group of the subject."),
  name: z.string().describe("Name of the subject."),
  namespace: z.string().optional().describe("Namespace of a service account."),
});
