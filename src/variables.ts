import * as z from "zod";
import { declare, path, port, processes, workers, type Reader } from "./variables/variable.ts";
import { clusterApiVariables } from "./variables/cluster-api.ts";
import { exposureVariables } from "./variables/exposure.ts";
import { gatewayVariables, temporalVariables } from "./variables/temporal.ts";

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

/** `address` or `address:port`, separated by commas; IPv6 addresses in brackets where a port follows. */
const servers = z
  .string()
  .default("")
  .transform((list) => list.split(",").map((server) => server.trim()))
  .transform((list) => list.filter((server) => server !== ""));

/** A duration in some unit that becomes milliseconds. */
const duration = (initial: number, millisecondsPerUnit: number) =>
  z.coerce
    .number()
    .positive()
    .default(initial)
    .transform((count) => count * millisecondsPerUnit);

const leaderReaders = ["garden worker", "fence", "local provider of a seed"] as const;

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
      "The name of the Seed object whose cluster this process acts on. A local provider without it keeps the garden's DNS records.",
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
  PERENNIAL_DNS_RESOLVERS: {
    setting: "dnsResolvers",
    meaning:
      "The resolvers that find the DNS servers of the leadership domain, separated by commas; the system's resolvers when empty.",
    schema: servers,
    readBy: leaderReaders,
    passedOn: true,
  },
  PERENNIAL_ZONE_SERVERS: {
    setting: "zoneServers",
    meaning:
      "All DNS servers of the leadership domain's zone, separated by commas, for where they cannot be looked up. When empty, the process looks them up.",
    schema: servers,
    readBy: leaderReaders,
    passedOn: true,
  },
  PERENNIAL_ZONE_KEY_FILE: {
    setting: "zoneKeyFile",
    meaning:
      "The file of the key (TSIG) that signs questions to these servers, as `tsig-keygen` writes it. With it, an answer that is not signed with the same key counts for nothing.",
    schema: path,
    readBy: leaderReaders,
    passedOn: true,
  },
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
  PERENNIAL_WEBHOOK_HOST: {
    setting: "webhookHost",
    meaning: "The address that the admission webhooks listen at. Without it, the process serves none.",
    schema: z.string().min(1).optional(),
    readBy: ["manager", "cluster-api"],
  },
  PERENNIAL_WEBHOOK_PORT: {
    setting: "webhookPort",
    meaning: "The port that the admission webhooks listen at.",
    schema: port.default(9443),
    readBy: ["manager", "cluster-api"],
  },
  PERENNIAL_WEBHOOK_SERVICE: {
    setting: "webhookService",
    meaning:
      "`namespace/name` of the Service through which API servers reach the webhooks. Without it, they call host and port.",
    schema: z
      .string()
      .regex(/^[^/]+\/[^/]+$/, "has to be namespace/name of a Service")
      .optional(),
    readBy: ["manager", "cluster-api"],
  },
  PERENNIAL_WEBHOOK_CLIENT_CA_FILE: {
    setting: "webhookClientCaFile",
    meaning:
      "The file of the certificate authority that signs the API servers' certificate for webhooks. Callers without such a certificate are turned away; without this file, the webhooks answer every caller.",
    schema: path,
    readBy: ["manager", "cluster-api"],
  },
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
  PERENNIAL_ENVIRONMENT: {
    setting: "environment",
    meaning: "The name of the local environment.",
    schema: z.string().min(1).default("local"),
    readBy: ["local provider of the garden", "local provider of a seed", "CLI"],
  },
  PERENNIAL_STATE_DIR: {
    setting: "stateDir",
    meaning:
      "The folder of the local environment. Without it, `/var/lib/perennial/NAME` for root, `~/.local/state/perennial/NAME` for other users.",
    schema: path,
    readBy: ["local provider of a seed", "CLI", "local environment"],
  },
  PERENNIAL_CACHE_DIR: {
    setting: "cacheDir",
    meaning:
      "The folder of downloaded and built binaries and images, which clones of the repository share. Without it, `~/.cache/perennial`.",
    schema: path,
    readBy: ["local environment"],
    passedOn: true,
  },
  PERENNIAL_MACHINES_SOCKET: {
    setting: "machinesSocket",
    meaning:
      "The socket at which the host answers for its machines, for a local provider in a pod. Without it, the provider makes machines itself.",
    schema: path,
    readBy: ["local provider of a seed"],
  },
  PERENNIAL_HEARTBEAT_NAMESPACE: {
    setting: "heartbeatNamespace",
    meaning: "The namespace in which the local provider renews its Lease `gardener-extension-heartbeat`.",
    schema: z.string().min(1).default("default"),
    readBy: ["local provider of a seed"],
  },
  PERENNIAL_DNS_SERVER: {
    setting: "dnsServer",
    meaning:
      "`address` or `address:port` of the local environment's DNS server. The local provider writes DNSRecords there that name no server of their own; the CLI asks it for Shoots' addresses.",
    schema: z.string().min(1).optional(),
    readBy: ["local provider of a seed", "CLI"],
  },
  PERENNIAL_DNS_KEY_FILE: {
    setting: "dnsKeyFile",
    meaning: "The file of the key that signs updates of that server. Without it, the local provider has no DNS server.",
    schema: path,
    readBy: ["local provider of a seed"],
  },
});
