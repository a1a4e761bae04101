import * as z from "zod";
import { declare, path, port, processes, workers, type Reader } from "./variables/variable.ts";
import { clusterApiVariables } from "./variables/cluster-api.ts";
import { exposureVariables } from "./variables/exposure.ts";
import { leaderVariables } from "./variables/leader.ts";
import { localVariables } from "./variables/local.ts";
import { selfHostedVariables } from "./variables/self-hosted.ts";
import { gatewayVariables, temporalVariables } from "./variables/temporal.ts";
import { webhookVariables } from "./variables/webhooks.ts";

export { type Process, type Reader, type Variable } from "./variables/variable.ts";

/** Variables as a program finds them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables that this program may read, as text; reading any other is a compile error. */
export type VariablesOf<R extends Reader> = {
  readonly [Name in keyof Table as R extends Table[Name]["readBy"][number] ? Name : never]?: string | undefined;
};

/** The table of all variables of `src`. */
export type Table = typeof variables;

const seconds = z.coerce.number().int().positive();

/** A duration in some unit that becomes milliseconds. */
const duration = (initial: number, millisecondsPerUnit: number) =>
  z.coerce
    .number()
    .positive()
    .default(initial)
    .transform((count) => count * millisecondsPerUnit);

/** Every variable that code below `src` reads, in the order of the page. */
export const variables = declare({
  PERENNIAL_LOG_LEVEL: {
    setting: "logLevel",
    meaning: "The least severe level that is logged.",
    schema: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
    readBy: processes,
    passedOn: true,
  },
  PERENNIAL_HEALTH_PORT: {
    setting: "healthPort",
    meaning: "The port of `/healthz` and `/readyz`, on all addresses; with 0 the system chooses one.",
    schema: port.default(0),
    readBy: processes,
  },
  PERENNIAL_GARDEN_KUBECONFIG: {
    setting: "gardenKubeconfig",
    meaning: "The file of the garden's kubeconfig. After a 401 the process reads it again.",
    schema: path,
    readBy: ["manager", ...workers, "local provider of the garden", "cluster-api", "CLI"],
    requiredBy: ["manager", ...workers, "local provider of the garden", "cluster-api"],
  },
  ...clusterApiVariables,
  ...temporalVariables,
  PERENNIAL_SEED_NAME: {
    setting: "seedName",
    meaning:
      "The name of the Seed object whose cluster this process acts on. A local provider that has neither this nor `PERENNIAL_NETWORK_AGENT_IMAGE` keeps the garden's DNS records.",
    schema: z.string().min(1).optional(),
    readBy: ["seed worker", "fence", "local provider of a seed"],
    requiredBy: ["seed worker", "fence", "local provider of a seed"],
  },
  PERENNIAL_SEED_KUBECONFIG: {
    setting: "seedKubeconfig",
    meaning: "The file of the seed's kubeconfig. After a 401 the process reads it again.",
    schema: path,
    readBy: ["seed worker", "fence", "local provider of a seed"],
    requiredBy: ["seed worker", "fence", "local provider of a seed"],
  },
  PERENNIAL_STATE_KEYS_FILE: {
    setting: "stateKeysFile",
    meaning:
      "The file of the private keys that open ShootStates, a JWK set: each seed's own, and for the garden's worker the garden's.",
    schema: path,
    readBy: workers,
    requiredBy: workers,
  },
  PERENNIAL_HELM: {
    setting: "helm",
    meaning:
      "The binary of Helm, which renders the charts of registered extensions and pulls those that are in registries.",
    schema: z.string().min(1).default("helm"),
    readBy: ["seed worker"],
  },
  ...leaderVariables,
  PERENNIAL_LEASE_SECONDS: {
    setting: "leaseSeconds",
    meaning:
      "How long an observation of a Shoot's leadership record allows a process to act. A migration waits twice as long.",
    unit: "seconds",
    schema: seconds.default(60),
    readBy: ["garden worker", "fence"],
    passedOn: true,
  },
  PERENNIAL_DNS_TTL_SECONDS: {
    setting: "dnsTtl",
    meaning: "How long resolvers may remember the address of a Shoot's API server.",
    unit: "seconds",
    schema: seconds.default(120),
    readBy: ["garden worker"],
    passedOn: true,
  },
  PERENNIAL_SYNC_PERIOD_SECONDS: {
    setting: "syncPeriod",
    meaning:
      "How long after a success a Shoot is reconciled again. The Shoot's workflow adds up to a tenth of it as jitter.",
    unit: "seconds",
    schema: duration(3600, 1000),
    readBy: ["garden worker"],
    passedOn: true,
  },
  PERENNIAL_RETRY_DURATION_SECONDS: {
    setting: "retryDuration",
    meaning: "How long a retryable error is retried inside its step before the step parks.",
    unit: "seconds",
    schema: duration(43_200, 1000),
    readBy: ["garden worker"],
    passedOn: true,
  },
  PERENNIAL_SEED_DEADLINE_SECONDS: {
    setting: "seedDeadline",
    meaning: "How long a seed's worker may leave a step unanswered before the operation reports it.",
    unit: "seconds",
    schema: duration(120, 1000),
    readBy: ["garden worker"],
    passedOn: true,
  },
  PERENNIAL_SNAPSHOT_PERIOD_MINUTES: {
    setting: "snapshotMinutes",
    meaning:
      "How often a Shoot's etcd is saved; a divisor of 60. A Shoot that loses its seed loses at most what it wrote in this time.",
    unit: "minutes",
    schema: z.coerce
      .number()
      .refine(
        (minutes) => Number.isInteger(minutes) && minutes >= 1 && 60 % minutes === 0,
        "has to be a number of minutes that divides an hour, 1 to 60",
      )
      .default(10),
    readBy: ["garden worker"],
    passedOn: true,
  },
  PERENNIAL_BUILD_ID: {
    setting: "buildId",
    meaning:
      "The name of the worker's workflow code. Without it, the name is the package's version and a hash of the code.",
    schema: z
      .string()
      .regex(/^(?!__)[\w.+-]{1,80}$/, "has to be at most 80 letters, digits and . _ + -, and not begin with __")
      .optional(),
    readBy: ["garden worker"],
    passedOn: true,
  },
  PERENNIAL_DRAIN_HOURS: {
    setting: "drainPeriod",
    meaning: "How long an operation may keep a build of the garden worker that is not current any more.",
    unit: "hours",
    schema: z.coerce
      .number()
      .nonnegative()
      .default(72)
      .transform((hours) => hours * 3_600_000),
    readBy: ["garden worker"],
    passedOn: true,
  },
  PERENNIAL_BACKUP_GRACE_HOURS: {
    setting: "backupGrace",
    meaning: "How long the backups of a Shoot outlive it.",
    unit: "hours",
    schema: z.coerce
      .number()
      .nonnegative()
      .default(24)
      .transform((hours) => hours * 3_600_000),
    readBy: ["seed worker"],
    passedOn: true,
  },
  PERENNIAL_SEED_CAPACITY: {
    setting: "seedCapacity",
    meaning:
      "How many Shoots the Seed takes. Its worker writes it into the Seed's status, and admission lets no more come. Without it, `status.allocatable` is left to others.",
    schema: z.coerce.number().int().nonnegative().optional(),
    readBy: ["seed worker"],
    passedOn: true,
  },
  ...exposureVariables,
  ...webhookVariables,
  PERENNIAL_SCHEDULING_STRATEGY: {
    setting: "schedulingStrategy",
    meaning:
      "How the scheduler chooses among Seeds that take a Shoot: `SameRegion` only in the Shoot's region, `MinimalDistance` as near to it as the garden's ConfigMap of distances says, or else the likeness of the regions' names.",
    schema: z.enum(["SameRegion", "MinimalDistance"]).default("SameRegion"),
    readBy: ["manager"],
    passedOn: true,
  },
  PERENNIAL_PROVIDER_WEBHOOK_HOST: {
    setting: "providerWebhookHost",
    meaning:
      "The address at which the garden's API server reaches the local provider's own admission webhooks. Without it, the provider serves none.",
    schema: z.string().min(1).optional(),
    readBy: ["local provider of the garden"],
  },
  ...gatewayVariables,
  ...localVariables,
  ...selfHostedVariables,
});
