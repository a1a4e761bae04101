import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "../environment/environment.ts";
import type { Processes } from "../process/processes.ts";
import { replaceFile } from "../replace-file.ts";
import { registryFolder, startServer, type Server } from "./server.ts";

/** An OCI registry from which machines, pods and Helm pull. */
export interface Registry {
  /** `address:port`, with which a reference begins. */
  readonly host: string;
  /** The authority of its certificate, PEM. */
  readonly ca: string;
}

/**
 * Starts the environment's registry on the gateway address, with TLS; what runs unchanged is left alone. Machines that boot
 * after it look there first. It refuses every push: pods reach it, and one that replaced the node agent's image would own
 * every machine; `pushing` (writer.ts) fills it.
 */
export async function startRegistry(
  environment: Pick<Environment, "stateDir" | "gateway">,
  processes: Processes,
  options: Pick<Server, "binary" | "users">,
): Promise<Registry> {
  const server: Server = {
    ...options,
    ...{ name: "registry", address: environment.gateway, preferredPort: 5000, access: "read" },
  };
  const { host, authority } = await startServer(environment, processes, server);
  const registry = { host, ca: authority.certificate };
  await replaceFile(noteFile(environment), JSON.stringify(registry), 0o644);
  return registry;
}

/** The environment's registry, or undefined where none was started. */
export async function findRegistry(environment: Pick<Environment, "stateDir">): Promise<Registry | undefined> {
  const note = await readFile(noteFile(environment), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return note === undefined ? undefined : (JSON.parse(note) as Registry);
}

const noteFile = (environment: Pick<Environment, "stateDir">): string =>
  join(registryFolder(environment), "registry.json");
