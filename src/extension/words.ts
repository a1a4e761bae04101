import type { OperationType } from "../api/index.ts";

/** How operations are told of: while they run, when they are done, when they fail, and as the reason of an Event. */
export const words: Readonly<Record<OperationType, { doing: string; done: string; inError: string; reason: string }>> =
  {
    Create: { doing: "Creating the", done: "Successfully created", inError: "creating", reason: "Created" },
    Reconcile: {
      doing: "Reconciling the",
      done: "Successfully reconciled",
      inError: "reconciling",
      reason: "Reconciled",
    },
    Delete: { doing: "Deleting the", done: "Successfully deleted", inError: "deleting", reason: "Deleted" },
    Migrate: { doing: "Migrating the", done: "Successfully migrated", inError: "migrating", reason: "Migrated" },
    Restore: { doing: "Restoring the", done: "Successfully restored", inError: "restoring", reason: "Restored" },
  };
