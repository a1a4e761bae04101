import { DefaultLogger, NativeConnection, Runtime, type LogLevel } from "@temporalio/worker";
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
export async function connectWorker(address: string, log: Logger): Promise<NativeConnection> {
  for (;;) {
    try {
      return await NativeConnection.connect({ address });
    } catch (error) {
      log.warn({ address, err: error }, "Temporal does not answer");
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
  }
}

const levels = { TRACE: "trace", DEBUG: "debug", INFO: "info", WARN: "warn", ERROR: "error" } as const satisfies Record<
  LogLevel,
  string
>;
