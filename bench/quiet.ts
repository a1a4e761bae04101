import { DefaultLogger, makeTelemetryFilterString, Runtime, type RuntimeOptions } from "@temporalio/worker";

/** The SDK says errors only, its native part, too: figures are read by people. Once per process. */
export function beQuiet(options: Pick<RuntimeOptions, "shutdownSignals"> = {}): void {
  Runtime.install({
    ...options,
    logger: new DefaultLogger("ERROR"),
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: "ERROR" }) } },
  });
}
