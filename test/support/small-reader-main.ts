import { ConfigMap, createKubeClient, createReflector, Node, Secret, untrusted } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";

/** A process of little memory that reads of a user's cluster what there is, and prints what came of it. */
const { KUBECONFIG = "" } = process.env;
const log = createLogger({ name: "small-reader", level: "silent" });
const client = createKubeClient({ file: KUBECONFIG }, { log, bounds: untrusted });
const outcome = (reading: Promise<unknown>) =>
  reading.then(
    () => "read",
    (error: unknown) => (error instanceof Error && error.cause instanceof Error ? error.cause : error),
  );
console.log(`many: ${String(await outcome(client.list(ConfigMap)))}`);
console.log(`dense: ${String(await outcome(client.list(Secret)))}`);
const interrupted = Promise.withResolvers<unknown>();
log.warn = (...[fields]: unknown[]) => interrupted.resolve((fields as { err: unknown }).err);
const nodes = createReflector(client, Node, { log });
nodes.start();
console.log(`watched: ${String(await interrupted.promise)}`);
await nodes.stop();
console.log("alive");
await client.close();
