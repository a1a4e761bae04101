import { once } from "node:events";

/** Process `cluster-api` with its code loaded: it begins when its standard input ends. A test that starts it often waits for no loading. */
await Promise.all([
  import("../../src/cluster-api/controllers.ts"),
  import("../../src/cluster-api/lead.ts"),
  import("../../src/cluster-api/webhooks.ts"),
  import("../../src/config.ts"),
  import("../../src/health.ts"),
]);
process.stdin.resume();
await once(process.stdin, "end");
await import("../../src/cluster-api/main.ts");
