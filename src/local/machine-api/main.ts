import { createLogger } from "../../log.ts";
import { findEnvironment } from "../environment/file.ts";
import { createMachines } from "../machine/machines.ts";
import { machineApiSocket } from "./calls.ts";
import { serveMachines } from "./serve.ts";

/** Answers for the host of the local environment that has this name and this folder, where providers run in pods. */
const [name = "", stateDir = ""] = process.argv.slice(2);
const environment = await findEnvironment({ name, stateDir });
if (environment === undefined)
  throw new Error(`cannot serve machines of environment "${name}" in "${stateDir}": it is not there`);
const log = createLogger({ name: "machine-api", level: "info" });
const socket = machineApiSocket(environment);
const server = await serveMachines({ machines: createMachines(environment, log), socket, log });
const stop = () => void server.stop().then(() => log.info({ socket }, "machines are served no more"));
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
log.info({ socket }, "machines are served");
