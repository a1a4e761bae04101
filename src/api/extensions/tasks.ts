import { appliedKinds, contractOf, type AppliedKind } from "./kinds.ts";

/** Upstream's name of the task that has a kind's controllers act: `deployInfrastructure`, `deployDNSRecordInternal`. */
export const taskOf = (kind: AppliedKind, purpose = ""): string =>
  `deploy${kind}${purpose.charAt(0).toUpperCase()}${purpose.slice(1)}`;

/** The tasks that a Shoot can ask for by its annotation; the controllers of other kinds act in each run anyway. */
export const shootTasks: readonly string[] = appliedKinds
  .filter((kind) => contractOf(kind).trigger !== "always")
  .flatMap((kind) => (contractOf(kind).purposes ?? [""]).map((purpose) => taskOf(kind, purpose)));
