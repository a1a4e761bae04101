import { z } from "zod";
import { errorCode } from "../error-codes.ts";
import { openEnum, listMap, object, raw, timestamp } from "./fields.ts";

/** Metadata that every Kubernetes object carries. */
export const objectMeta = object({
  name: z.string(),
  namespace: z.string().optional(),
  generateName: z.string().optional(),
  uid: z.string().optional(),
  resourceVersion: z.string().optional(),
  generation: z.number().optional(),
  creationTimestamp: z.string().optional(),
  deletionTimestamp: z.string().optional(),
  deletionGracePeriodSeconds: z.number().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  finalizers: z.array(z.string()).optional(),
  ownerReferences: z
    .array(
      object({
        apiVersion: z.string(),
        kind: z.string(),
        name: z.string(),
        uid: z.string(),
        controller: z.boolean().optional(),
        blockOwnerDeletion: z.boolean().optional(),
      }),
    )
    .optional(),
  managedFields: z.array(raw()).optional(),
});

/** Metadata of an object that lives in a namespace. */
export const namespacedMeta = objectMeta.extend({ namespace: z.string() });

/** Metadata that every Kubernetes object carries. */
export type ObjectMeta = z.infer<typeof objectMeta>;

/** Metadata of an object that lives in a namespace. */
export type NamespacedMeta = z.infer<typeof namespacedMeta>;

/** Any Kubernetes object. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** What an operation does to its object. */
export const operationType = openEnum("Create", "Reconcile", "Delete", "Migrate", "Restore");

/** How far an operation is: `Error` is retried by itself, `Failed` waits until an operator retries. */
export const operationState = openEnum("Pending", "Processing", "Succeeded", "Error", "Failed", "Aborted");

/** The operation that ran last, or runs. */
export const lastOperation = object({
  type: operationType.describe("What is done to the object: Create, Reconcile, Delete, Migrate or Restore."),
  state: operationState.describe(
    "Pending, Processing, Succeeded, Error (is retried), Failed (waits until an operator retries) or Aborted.",
  ),
  progress: z.int32().describe("How much of the operation is done, in percent."),
  description: z.string().describe("What is being done, or how it ended."),
  lastUpdateTime: timestamp().describe("When the operation's state changed last."),
});

/** An error of the last operation. */
export const lastError = object({
  description: z.string().describe("What could not be done, to which object, and why."),
  taskID: z.string().optional().describe("The step of the flow that failed."),
  codes: z.array(errorCode).optional().describe("Codes that classify the error."),
  lastUpdateTime: timestamp().optional().describe("When the error was seen last."),
});

/** One aspect of an object's health. */
export const condition = object({
  type: z.string().describe("The aspect, in CamelCase."),
  status: openEnum("True", "False", "Unknown", "Progressing").describe("True, False, Unknown or Progressing."),
  lastTransitionTime: timestamp().describe("When the status changed last."),
  lastUpdateTime: timestamp().describe("When the condition was written last."),
  reason: z.string().describe("Why the condition has this status, in one CamelCase word."),
  message: z.string().describe("Why the condition has this status, for people."),
  codes: z.array(errorCode).optional().describe("Codes that classify the problem."),
});

/** Conditions, of which each writer owns its own: one per type. */
export const conditions = z.array(condition).meta(listMap("type"));

/** What an operation does to its object. */
export type OperationType = z.infer<typeof operationType>;
/** How far an operation is. */
export type OperationState = z.infer<typeof operationState>;
/** The operation that ran last, or runs. */
export type LastOperation = z.infer<typeof lastOperation>;
/** An error of the last operation. */
export type LastError = z.infer<typeof lastError>;
/** One aspect of an object's health. */
export type Condition = z.infer<typeof condition>;

/** Whether a document says what it is: an object has an API version, a kind and a name. */
export function isNamedObject(document: unknown): document is KubeObject {
  const { apiVersion, kind, metadata } = (document ?? {}) as { readonly [field in keyof KubeObject]?: unknown };
  const { name } = (metadata ?? {}) as { readonly name?: unknown };
  return [apiVersion, kind, name].every((one) => typeof one === "string" && one !== "");
}
