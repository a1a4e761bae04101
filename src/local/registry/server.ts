import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createPki, type KeyPair } from "../cluster/pki.ts";
import type { Environment } from "../environment/environment.ts";
import { accepts, createPorts } from "../process/ports.ts";
import type { Processes } from "../process/processes.ts";
import { replaceFile } from "../replace-file.ts";
import { renderYaml } from "../../yaml.ts";

/** One of the programs that serve an environment's store of images and charts. */
export interface Server {
  /** The name of its process. */
  readonly name: string;
  /** The binary of the distribution project. */
  readonly binary: string;
  readonly address: string;
  readonly preferredPort?: number;
  /** `read`: every push is refused. `write`: clients need a certificate of the store's own authority. */
  readonly access: "read" | "write";
  /** Lines of an htpasswd file with bcrypt hashes; without them, it serves every client that reaches it. */
  readonly users?: string;
}

/** Where a server listens, and whose certificates both sides show. */
export interface RunningServer {
  /** `address:port`. */
  readonly host: string;
  readonly authority: KeyPair;
  /** The certificate of a client that may write. */
  readonly writer: KeyPair;
}

/** Where the environment's registry keeps its store, its keys and its configuration. */
export const registryFolder = ({ stateDir }: Pick<Environment, "stateDir">): string => join(stateDir, "registry");

/** Starts the server with TLS and returns when it listens; it is restarted only where it was started otherwise. */
export async function startServer(
  environment: Pick<Environment, "stateDir">,
  processes: Processes,
  server: Server,
): Promise<RunningServer> {
  const { name, binary, address, access, users } = server;
  const folder = registryFolder(environment);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const port = await claimPort(environment, processes, server);
  const pki = createPki(join(folder, "pki"));
  const authority = await pki.authority("registry");
  const own = await pki.issue(authority, {
    name: `server-${address}`,
    commonName: "perennial:registry",
    hosts: [address],
  });
  const writer = await pki.issue(authority, { name: "writer", commonName: "perennial:registry-writer" });
  const host = `${address}:${port}`;
  const htpasswd = join(folder, `${name}.htpasswd`);
  if (users !== undefined) await replaceFile(htpasswd, `${users}\n`);
  const config = renderYaml({
    version: 0.1,
    log: { level: "warn", accesslog: { disabled: true } },
    storage: {
      filesystem: { rootdirectory: join(folder, "store") },
      ...(access === "read" && { maintenance: { readonly: { enabled: true } } }),
    },
    http: {
      addr: host,
      secret: host, // signs the state of uploads, which are not spread over several servers
      tls: {
        ...{ certificate: own.certificateFile, key: own.keyFile, minimumtls: "tls1.2" },
        ...(access === "write" && { clientcas: [authority.certificateFile] }),
      },
    },
    ...(users !== undefined && { auth: { htpasswd: { realm: "perennial", path: htpasswd } } }),
  });
  const file = join(folder, `${name}.yaml`);
  await replaceFile(file, config);
  await processes.start({
    name,
    command: binary,
    args: ["serve", file],
    env: { OTEL_TRACES_EXPORTER: "none" }, // it looks for a collector of traces otherwise
    version: [config, users, own.certificate].join("\n"),
    ready: async () => await accepts(address, port),
  });
  return { host, authority, writer };
}

async function claimPort(
  environment: Pick<Environment, "stateDir">,
  processes: Processes,
  { name, address, preferredPort }: Server,
): Promise<number> {
  const running = (await processes.list()).some((process) => process.name === name && process.running);
  const preferred = preferredPort === undefined ? {} : { preferred: preferredPort };
  return await createPorts(environment).claim({ owner: name, host: address, running, ...preferred });
}
