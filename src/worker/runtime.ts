import { isDeepStrictEqual } from "node:util";
import { DefaultLogger, NativeConnection, Runtime, type LogLevel, type Worker } from "@temporalio/worker";
import type { TemporalAddress } from "../client/connect.ts";
import { FOLLOW_PERIOD, readFiles, type ReadFiles } from "../client/credentials.ts";
import type { Logger } from "../log.ts";

/** Sends what the SDK logs through ours. Once per process, before anything else of the SDK is used. */
export function installRuntime(log: Logger): void {
  Runtime.install({
    logger: new DefaultLogger("INFO", ({ level, message, meta }) => {
      const { timestampNanos: _, error, ...fields } = meta ?? {};
      log[levels[level]](error === undefined ? fields : { ...fields, err: error }, message);
    }),
    shutdownSignals: [],
  });
}

/** Connects a worker to Temporal, trying for as long as it takes: a worker may be up before its server. */
export async function connectWorker({ address, ...files }: TemporalAddress, log: Logger): Promise<NativeConnection> {
  for (;;) {
    const read = await readFiles(files);
    try {
      return await NativeConnection.connect({ address, ...read });
    } catch (error) {
      log.warn({ address, err: error }, "Temporal does not answer");
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
  }
}

/** Gives the worker a new connection when its files have changed: a native connection keeps the certificate it began with. */
export function followFiles(worker: Worker, temporal: TemporalAddress, log: Logger, period = FOLLOW_PERIOD) {
  const { address, ...files } = temporal;
  let known: ReadFiles | undefined;
  const look = async () => {
    const read = await readFiles(files);
    const before = (known ??= read);
    if (isDeepStrictEqual(read, before)) return;
    const connection = await NativeConnection.connect({ address, ...read });
    worker.connection = connection;
    known = read;
    log.info({ address }, "connected with renewed credentials");
  };
  const tryToLook = () =>
    void look().catch((error: unknown) => log.warn({ address, err: error }, "cannot take up renewed credentials"));
  tryToLook();
  const timer = setInterval(tryToLook, period);
  return { stop: () => clearInterval(timer) };
}

const levels = { TRACE: "trace", DEBUG: "debug", INFO: "info", WARN: "warn", ERROR: "error" } as const satisfies Record<
  LogLevel,
  string
>;
