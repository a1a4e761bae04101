import { join } from "node:path";
import type { Environment } from "../environment/environment.ts";
import type { Machines } from "../machine/machines.ts";

/** What may be asked of the host: all that there is of {@link Machines}. */
export type Call = keyof Machines;

/** The calls by their names, which are their paths. */
export const calls: Readonly<Record<Call, true>> = {
  ensure: true,
  revive: true,
  kubeletLog: true,
  list: true,
  remove: true,
  configureNetwork: true,
  addAddress: true,
  removeAddress: true,
};

/** The folder of the socket. Pods mount the folder, not the socket: that is another one after a restart of the server. */
export const machineApiFolder = ({ stateDir }: Pick<Environment, "stateDir">): string => join(stateDir, "machine-api");

/** The socket at which the host answers. */
export const machineApiSocket = (environment: Pick<Environment, "stateDir">): string =>
  join(machineApiFolder(environment), "socket");
