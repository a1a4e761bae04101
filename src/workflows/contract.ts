import { defineSearchAttributeKey } from "@temporalio/common";
import { defineQuery, defineSignal, defineUpdate } from "@temporalio/workflow";
import type { InstallationRef } from "../api/registration/run.ts";
import type { BastionRef } from "../api/shoot/bastion-run.ts";
import type { FlowProgress, ShootOperation, ShootRef, ShootRun } from "../api/shoot/run.ts";

/** Everything the outside may know of our workflows: ids, queues, messages, search attributes. */

/** The queue of all workflows, and of the activities that act on the garden. */
export const gardenQueue = "garden";

/** The queue of the activities that act on one seed. */
export const seedQueue = (seedName: string): string => `seed-${seedName}`;

/** The id of a Shoot's entity workflow; the uid keeps a later Shoot of the same name from inheriting its history. */
export const shootWorkflowId = ({ namespace, name, uid }: ShootRef): string => `shoot/${namespace}/${name}/${uid}`;

/** The Shoot whose entity workflow has this id; undefined when it is none. */
export function shootOfWorkflowId(workflowId: string): ShootRef | undefined {
  const [, namespace, name, uid] = /^shoot\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(workflowId) ?? [];
  return namespace && name && uid ? { namespace, name, uid } : undefined;
}

/** The id of the workflow that runs an operation of a Shoot. */
export const flowWorkflowId = (ref: ShootRef, operation: FlowKind): string => `${shootWorkflowId(ref)}/${operation}`;

/** The flows there are, one of which a Shoot may have running. Create and Reconcile are one: it brings a Shoot to what its spec asks for. */
export const flowKinds = ["delete", "force-delete", "restore", "migrate", "reconcile"] as const;

/** One of {@link flowKinds}. */
export type FlowKind = (typeof flowKinds)[number];

/** The flow that carries out an operation. */
export const flowFor = ({ operation, forced }: Pick<ShootRun, "operation" | "forced">): FlowKind =>
  operation === "Delete" && forced === true ? "force-delete" : flows[operation];

const flows = {
  Create: "reconcile",
  Reconcile: "reconcile",
  Delete: "delete",
  Migrate: "migrate",
  Restore: "restore",
} as const satisfies Record<ShootOperation, FlowKind>;

/** The id of the workflow that takes away what a Shoot has left behind on a seed. */
export const cleanUpWorkflowId = (ref: ShootRef, seedName: string): string =>
  `${shootWorkflowId(ref)}/clean-up/${seedName}`;

/** The id of the workflow that installs a controller, upgrades it or takes it away. */
export const installationWorkflowId = ({ name, uid }: InstallationRef): string => `installation/${name}/${uid}`;

/** The id of the workflow that makes a Bastion in the seed of its Shoot, or takes it away. */
export const bastionWorkflowId = ({ namespace, name, uid }: BastionRef): string =>
  `bastion/${namespace}/${name}/${uid}`;

/** Workflow types, as clients name them. */
export const workflowTypes = {
  shoot: "shoot",
  reconcile: "reconcile",
  delete: "deleteShoot",
  "force-delete": "forceDelete",
  migrate: "migrate",
  restore: "restore",
  cleanUp: "cleanUp",
  installation: "installation",
  bastion: "bastion",
} as const;

/** Says that something about the Shoot changed, never what: the workflow reads the Shoot itself. */
export const changedSignal = defineSignal("changed");

/** Where an operation is, step by step. */
export const progressQuery = defineQuery<FlowProgress>("progress");

/** Asks parked and retrying steps to go on now; with a name, only that step. Refused when nothing waits for it. */
export const retryUpdate = defineUpdate<readonly string[], [RetryRequest]>("retry");

/** The same from a workflow, which cannot send updates: every step that waits goes on. Nothing waits: nothing happens. */
export const retrySignal = defineSignal("retryAll");

/** Which step to retry; all that wait when there is no name. */
export interface RetryRequest {
  readonly step?: string;
}

/** The search attributes of an operation; all are keywords, registered in the namespace before the first workflow. */
export const searchAttributes = {
  shoot: defineSearchAttributeKey("ShootName", "KEYWORD"),
  project: defineSearchAttributeKey("Project", "KEYWORD"),
  seed: defineSearchAttributeKey("SeedName", "KEYWORD"),
  operation: defineSearchAttributeKey("Operation", "KEYWORD"),
  phase: defineSearchAttributeKey("Phase", "KEYWORD"),
  errorCode: defineSearchAttributeKey("ErrorCode", "KEYWORD"),
} as const;
