/**
 * Renews certificates of a control plane: unit gardenadm-renewal.service runs it on one of its nodes, when the agent there has seen that
 * one is due. A program of its own: an agent at rest does without what it loads.
 */
import { hostname } from "node:os";
import { ADMIN_KUBECONFIG } from "../../api/names.ts";
import { createLogger } from "../../log.ts";
import { renewCertificates } from "./renewal.ts";
import { createClusterClient } from "../cluster/client.ts";

const log = createLogger({ name: "gardenadm-renewal", level: "info" });
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort(new Error("asked to end")));

const client = createClusterClient({ file: ADMIN_KUBECONFIG }, { userAgent: "gardenadm", log });
try {
  const tell = (message: string) => log.info({ missing: message }, "waiting");
  await renewCertificates(client, { root: "/", hostName: hostname() }, { signal: stop.signal, tell });
  log.info("certificates renewed");
} catch (error) {
  log.fatal({ err: error }, "certificates not renewed");
  process.exitCode = 1;
} finally {
  await client.close();
}
