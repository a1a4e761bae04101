import { DefaultLogger, makeTelemetryFilterString, Runtime } from "@temporalio/worker";

// A test that makes activities fail on purpose should not fill the screen with it.
Runtime.install({
  logger: new DefaultLogger("ERROR"),
  telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: "ERROR" }) } },
});
