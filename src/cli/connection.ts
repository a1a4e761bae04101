import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { commandLines } from "../api/command-lines.ts";
import type { ClusterOptions, Context, Garden, Variables } from "./context.ts";
import { CliError } from "./exit.ts";
import { text } from "./option.ts";
import type { Terminal } from "./display/terminal.ts";

/** The options of every verb that talks to clusters. */
export const clusterOptions = {
  kubeconfig: text(
    "file",
    "Kubeconfig of the garden [$PERENNIAL_GARDEN_KUBECONFIG, $KUBECONFIG, the local environment's]",
  ),
  temporal: text("address", "Temporal's host:port [$PERENNIAL_TEMPORAL_ADDRESS, the local environment's]"),
  temporalNamespace: text("name", "Temporal's namespace [$PERENNIAL_TEMPORAL_NAMESPACE, default]"),
} as const;

/** What a context is made from; everything that a verb can reach goes through it. */
export interface ContextDeps {
  readonly terminal: Terminal;
  readonly variables: Variables;
  readonly signal: AbortSignal;
}

/** A context that connects on demand, importing what it needs then; `close` ends every connection. */
export function createContext({ terminal, variables, signal }: ContextDeps): {
  context: Context;
  close(): Promise<void>;
} {
  const closers: (() => Promise<void>)[] = [];

  async function connect(file: string): Promise<Garden> {
    const { createKubeClient, parseKubeconfig } = await import("../kube/index.ts");
    const { namespace } = parseKubeconfig(await readKubeconfig(file));
    const client = createKubeClient({ file }, { userAgent: "perennial-cli" });
    closers.push(() => client.close());
    return { client, namespace };
  }

  const context: Context = {
    terminal,
    variables,
    signal,
    now: () => Date.now(),
    garden: async ({ kubeconfig }) => connect(await findKubeconfig(kubeconfig, variables)),
    async seed(name) {
      const file = join(await stateDir(variables), "kubeconfigs", `${name}.yaml`);
      return existsSync(file) ? (await connect(file)).client : undefined;
    },
    async flows(options) {
      const { connectTemporal } = await import("../client/connect.ts");
      const { createShootClient } = await import("../client/shoots.ts");
      const { address, namespace } = await temporalAddress(options, variables);
      const client = await connectTemporal({ address, namespace }).catch((cause: unknown) => {
        throw new CliError("unreachable", `cannot reach Temporal at ${address}: name its address with --temporal`, {
          cause,
        });
      });
      closers.push(() => client.connection.close());
      return createShootClient(client);
    },
  };
  return { context, close: async () => void (await Promise.allSettled(closers.map((close) => close()))) };
}

/** The state directory of the local environment, whether it exists or not. */
export async function stateDir(variables: Variables): Promise<string> {
  const { stateDirectory } = await import("../local/environment/file.ts");
  const { PERENNIAL_ENVIRONMENT: name, PERENNIAL_STATE_DIR: stateDir } = variables;
  return stateDirectory({ ...(name && { name }), ...(stateDir && { stateDir }) });
}

/** The garden's kubeconfig: the option, the variables, the local environment's; an error that says so when there is none. */
export async function findKubeconfig(option: string | undefined, variables: Variables): Promise<string> {
  const listed = variables.KUBECONFIG?.split(delimiter).find((file) => file !== "" && existsSync(file));
  const named = option ?? variables.PERENNIAL_GARDEN_KUBECONFIG ?? listed;
  if (named) return named;
  const local = join(await stateDir(variables), "kubeconfigs", "garden.yaml");
  if (existsSync(local)) return local;
  throw new CliError(
    "unreachable",
    `no garden cluster: name one with --kubeconfig, or start the local one with '${commandLines.localUp()}'`,
  );
}

/** Temporal's address and namespace: the options, the variables, the local environment's server, the usual port of this machine. */
export async function temporalAddress(
  options: ClusterOptions,
  variables: Variables,
): Promise<{ address: string; namespace: string }> {
  return {
    address:
      options.temporal ?? variables.PERENNIAL_TEMPORAL_ADDRESS ?? (await localTemporal(variables)) ?? "127.0.0.1:7233",
    namespace: options.temporalNamespace ?? variables.PERENNIAL_TEMPORAL_NAMESPACE ?? "default",
  };
}

async function localTemporal(variables: Variables): Promise<string | undefined> {
  const { createPorts } = await import("../local/process/ports.ts");
  const ports = await createPorts({ stateDir: await stateDir(variables) }).list();
  return ports["temporal"] === undefined ? undefined : `127.0.0.1:${ports["temporal"]}`;
}

async function readKubeconfig(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new CliError("usage", `cannot read the kubeconfig ${file}: name an existing file with --kubeconfig`, {
      cause,
    });
  }
}
