import { createLogger } from "../../log.ts";
import { createProcesses } from "../process/processes.ts";
import { supervise } from "./supervisor.ts";

/** Keeps the processes of the local environment in the given folder alive. */
const [stateDir] = process.argv.slice(2);
if (stateDir === undefined) throw new Error("cannot supervise: name the folder of an environment");
const log = createLogger({ name: "supervisor", level: "info" });
const stopping = new AbortController();
process.once("SIGTERM", () => stopping.abort());
process.once("SIGINT", () => stopping.abort());
log.info({ stateDir }, "supervisor started");
const processes = createProcesses({ stateDir }, log);
await supervise({ pid: process.pid, processes, log, signal: stopping.signal });
log.info({ stateDir }, "supervisor ended");
