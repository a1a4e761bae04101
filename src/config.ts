import * as z from "zod";

/** The environment of a process, parsed once at its start. Times are milliseconds, paths are absolute or relative to the working directory. */
export type Config = ReturnType<typeof parseConfig>;

/** Parses the variables `PERENNIAL_*`. Throws one sentence that names every variable that is wrong, and how. */
export function parseConfig(environment: Readonly<Record<string, string | undefined>>) {
  const parsed = Variables.safeParse(environment);
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
    throw new Error(`cannot read the configuration: ${faults.join("; ")}`);
  }
  const variables = parsed.data;
  return {
    logLevel: variables.PERENNIAL_LOG_LEVEL,
    gardenKubeconfig: variables.PERENNIAL_GARDEN_KUBECONFIG,
    temporalAddress: variables.PERENNIAL_TEMPORAL_ADDRESS,
    temporalNamespace: variables.PERENNIAL_TEMPORAL_NAMESPACE,
    seedName: variables.PERENNIAL_SEED_NAME,
    seedKubeconfig: variables.PERENNIAL_SEED_KUBECONFIG,
    stateKeysFile: variables.PERENNIAL_STATE_KEYS_FILE,
    healthPort: variables.PERENNIAL_HEALTH_PORT,
    stateDir: variables.PERENNIAL_STATE_DIR,
    environment: variables.PERENNIAL_ENVIRONMENT,
    dnsServer: variables.PERENNIAL_DNS_SERVER,
    dnsKeyFile: variables.PERENNIAL_DNS_KEY_FILE,
    zoneServers: {
      resolvers: variables.PERENNIAL_DNS_RESOLVERS,
      servers: variables.PERENNIAL_ZONE_SERVERS,
    },
    webhookPort: variables.PERENNIAL_WEBHOOK_PORT,
    webhookHost: variables.PERENNIAL_WEBHOOK_HOST,
    webhookService: variables.PERENNIAL_WEBHOOK_SERVICE,
    syncPeriod: variables.PERENNIAL_SYNC_PERIOD_SECONDS * 1000,
    leaseSeconds: variables.PERENNIAL_LEASE_SECONDS,
    dnsTtl: variables.PERENNIAL_DNS_TTL_SECONDS,
    snapshotMinutes: variables.PERENNIAL_SNAPSHOT_PERIOD_MINUTES,
    seedDeadline: variables.PERENNIAL_SEED_DEADLINE_SECONDS * 1000,
    retryDuration: variables.PERENNIAL_RETRY_DURATION_SECONDS * 1000,
    buildId: variables.PERENNIAL_BUILD_ID,
    drainPeriod: variables.PERENNIAL_DRAIN_HOURS * 3_600_000,
    backupGrace: variables.PERENNIAL_BACKUP_GRACE_HOURS * 3_600_000,
  };
}

/** The value of a setting that this process cannot do without; the error names its variable. */
export function required<T>(value: T | undefined, variable: string): T {
  if (value !== undefined) return value;
  throw new Error(`cannot start: ${variable} is not set`);
}

const port = z.coerce.number().int().min(0).max(65_535);

/** `address` or `address:port`, separated by commas; IPv6 addresses in brackets where a port follows. */
const servers = z
  .string()
  .default("")
  .transform((list) => list.split(",").map((server) => server.trim()))
  .transform((list) => list.filter((server) => server !== ""));

const Variables = z.object({
  PERENNIAL_LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
  PERENNIAL_GARDEN_KUBECONFIG: z.string().min(1).optional(),
  PERENNIAL_TEMPORAL_ADDRESS: z.string().min(1).default("127.0.0.1:7233"),
  PERENNIAL_TEMPORAL_NAMESPACE: z.string().min(1).default("default"),
  PERENNIAL_SEED_NAME: z.string().min(1).optional(),
  PERENNIAL_SEED_KUBECONFIG: z.string().min(1).optional(),
  /** The keys that seal and open ShootStates; every seed's worker needs the same ones. */
  PERENNIAL_STATE_KEYS_FILE: z.string().min(1).optional(),
  PERENNIAL_HEALTH_PORT: port.default(0),
  PERENNIAL_STATE_DIR: z.string().min(1).optional(),
  PERENNIAL_ENVIRONMENT: z.string().min(1).default("local"),
  PERENNIAL_DNS_SERVER: z.string().min(1).optional(),
  PERENNIAL_DNS_KEY_FILE: z.string().min(1).optional(),
  /** Through which resolvers the DNS servers that know who leads are found; the system's unless set. */
  PERENNIAL_DNS_RESOLVERS: servers,
  /** All DNS servers of the leadership domain's zone, where they are not to be looked up. */
  PERENNIAL_ZONE_SERVERS: servers,
  PERENNIAL_WEBHOOK_PORT: port.default(9443),
  /** Where the webhooks listen; without it, none are served. */
  PERENNIAL_WEBHOOK_HOST: z.string().min(1).optional(),
  PERENNIAL_WEBHOOK_SERVICE: z
    .string()
    .regex(/^[^/]+\/[^/]+$/, "has to be namespace/name of a Service")
    .optional(),
  /** How long after a success a Shoot is reconciled again; the entity adds up to a tenth of it as jitter. */
  PERENNIAL_SYNC_PERIOD_SECONDS: z.coerce.number().positive().default(3600),
  /** How long a look at a Shoot's leadership record allows to act; a migration waits twice as long. */
  PERENNIAL_LEASE_SECONDS: z.coerce.number().int().positive().default(60),
  /** How long resolvers may remember the address of a Shoot's API server. */
  PERENNIAL_DNS_TTL_SECONDS: z.coerce.number().int().positive().default(120),
  /** How often a Shoot's etcd is saved: what is lost at most when its seed is. Hours begin with the same minute. */
  PERENNIAL_SNAPSHOT_PERIOD_MINUTES: z.coerce
    .number()
    .refine(
      (minutes) => Number.isInteger(minutes) && minutes >= 1 && 60 % minutes === 0,
      "has to be a number of minutes that divides an hour, 1 to 60",
    )
    .default(10),
  /** How long a seed's worker may leave a step unanswered before the operation says so. */
  PERENNIAL_SEED_DEADLINE_SECONDS: z.coerce.number().positive().default(120),
  /** How long a retryable error is retried inside its step before the step parks. */
  PERENNIAL_RETRY_DURATION_SECONDS: z.coerce.number().positive().default(43_200),
  /** The garden's worker's name for its workflow code, in place of the package's version and a hash of the code. */
  PERENNIAL_BUILD_ID: z
    .string()
    .regex(/^(?!__)[\w.+-]{1,80}$/, "has to be at most 80 letters, digits and . _ + -, and not begin with __")
    .optional(),
  /** How long an operation may keep a build of the garden's worker that is not current any more. */
  PERENNIAL_DRAIN_HOURS: z.coerce.number().nonnegative().default(72),
  /** How long the backups of a Shoot outlive it. */
  PERENNIAL_BACKUP_GRACE_HOURS: z.coerce.number().nonnegative().default(24),
});
