import { pino, stdSerializers, stdTimeFunctions, type DestinationStream, type Logger as PinoLogger } from "pino";
import { REDACTED, redacted, secretFields } from "./redaction.ts";

/** What every part logs through: fields first, then a constant message: `log.info({ shoot, step }, "step done")`. */
export type Logger = PinoLogger;

/** The levels that `PERENNIAL_LOG_LEVEL` may name, from chatty to quiet. */
export const logLevels = ["trace", "debug", "info", "warn", "error", "silent"] as const;

/** One of {@link logLevels}. */
export type LogLevel = (typeof logLevels)[number];

/** How a logger is made; `destination` is standard output unless told otherwise. */
export interface LogOptions {
  readonly name: string;
  readonly level: LogLevel;
  /** One readable line per record, for a terminal, instead of JSON. */
  readonly pretty?: boolean;
  readonly destination?: DestinationStream;
}

/** A logger that blanks what may be a credential: fields by name (kubeconfig, token, Secret data), at any depth, texts by their looks. */
export function createLogger({ name, level, pretty = false, destination = process.stdout }: LogOptions): Logger {
  return pino(
    {
      base: { name },
      level,
      timestamp: stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redacted(fields) as typeof fields,
      },
      redact: { paths: secretPaths(), censor: REDACTED }, // of a child's own fields, three levels deep
      serializers: { err: (error: Error) => redacted({ ...stdSerializers.err(error) }) },
    },
    pretty ? { write: (line) => void destination.write(readable(line)) } : destination,
  );
}

const secretPaths = (): string[] =>
  [...secretFields].flatMap((field) => ["", "*", "*.*"].map((parent) => `${parent}["${field}"]`));

function readable(line: string): string {
  const { time, level, name, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const pairs = Object.entries(fields).map(([field, value]) => `${field}=${oneWord(value)}`);
  const head = [
    String(time).slice(11, 23),
    String(level).toUpperCase().padEnd(5),
    String(name),
    typeof msg === "string" ? msg : "",
  ];
  return [...head, ...pairs].join(" ") + (err === undefined ? "" : `\n${stackOf(err)}`) + "\n";
}

function oneWord(value: unknown): string {
  return typeof value === "string" && !/\s/.test(value) ? value : JSON.stringify(value);
}

function stackOf(err: unknown): string {
  const stack = typeof err === "object" && err !== null && "stack" in err ? err.stack : err;
  return typeof stack === "string" ? stack : JSON.stringify(stack);
}
