import { createLogger } from "../../log.ts";
import { findEnvironment } from "../environment/file.ts";
import { createMachines } from "../machine/machines.ts";
import { createProcesses } from "../process/processes.ts";
import { superviseMachines } from "./machines.ts";
import { supervise } from "./supervisor.ts";

/** Keeps the processes and the seeds' machines of the local environment alive that has this name and this folder. */
const [name = "", stateDir = ""] = process.argv.slice(2);
const environment = await findEnvironment({ name, stateDir });
if (environment === undefined)
  throw new Error(`cannot supervise environment "${name}" in "${stateDir}": it is not there`);
const log = createLogger({ name: "supervisor", level: "info" });
const stopping = new AbortController();
process.once("SIGTERM", () => stopping.abort());
process.once("SIGINT", () => stopping.abort());
log.info({ environment: name, stateDir }, "supervisor started");
const common = { log, signal: stopping.signal };
const machines = superviseMachines({ ...common, machines: createMachines(environment, log) });
await supervise({ ...common, pid: process.pid, processes: createProcesses(environment, log) });
stopping.abort();
await machines;
log.info({ environment: name }, "supervisor ended");
