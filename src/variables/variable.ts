import * as z from "zod";

/** One environment variable: what it means, and which program may read it. `docs/configuration.md` is made from this. */
export interface Variable {
  /** Its name in the configuration of a process. */
  readonly setting: string;
  /** One or two sentences for an operator. */
  readonly meaning: string;
  readonly unit?: string;
  /** Makes the setting from the variable's text; the default is in here. */
  readonly schema: z.ZodType;
  readonly readBy: readonly Reader[];
  /** The processes that do not start without it. */
  readonly requiredBy?: readonly Process[];
  /** Whether `perennial local up` hands it on, as it finds it, to the processes that it starts. */
  readonly passedOn?: boolean;
}

/**
 * The processes that parse their configuration; the local provider is one process for the garden, one for each seed, and one in
 * each self-hosted cluster, on whose nodes its network agents run.
 */
export const processes = [
  "manager",
  "garden worker",
  "seed worker",
  "fence",
  "Temporal gateway",
  "local provider of the garden",
  "local provider of a seed",
  "local provider of a self-hosted cluster",
  "network agent",
  "cluster-api",
] as const;

/** One of {@link processes}. */
export type Process = (typeof processes)[number];

/** A program that reads variables; the local environment does so inside of the CLI, the local providers and the tests. */
export type Reader = Process | "CLI" | "local environment";

/** A file; none where it is not set. */
export const path = z.string().min(1).optional();

/** A TCP port. */
export const port = z.coerce.number().int().min(0).max(65_535);

/** The processes that run activities. */
export const workers = ["garden worker", "seed worker"] as const;

/** Holds a table's names to our prefix, and keeps each entry's own type. */
export function declare<const T extends Readonly<Record<`PERENNIAL_${string}`, Variable>>>(table: T): T {
  return table;
}
