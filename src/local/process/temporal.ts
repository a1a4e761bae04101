import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import type { Environment } from "../environment/environment.ts";
import { accepts, createPorts } from "./ports.ts";
import type { Processes } from "./processes.ts";

/** Where an environment's Temporal server is found. */
export interface TemporalServer {
  readonly address: string;
  readonly namespace: string;
  readonly ui: string;
}

/** The search attributes that our workflows set, all of them keywords. */
export const searchAttributes = ["ShootName", "Project", "SeedName", "Operation", "Phase", "ErrorCode"] as const;

/** Temporal polls its own queues only so often a second; the default of 20 costs every hop 100 ms. */
export const dynamicConfig = [
  "history.transferProcessorMaxPollRPS=2000",
  "history.timerProcessorMaxPollRPS=2000",
] as const;

/** The settings that the CLI keeps, such as a profile with another address, are its user's and not ours. */
const ownSettings = { TEMPORAL_CONFIG_FILE: "/dev/null" };

/** Starts Temporal with its UI on the loopback address, with a database file that survives restarts. */
export async function startTemporal(
  environment: Pick<Environment, "stateDir">,
  processes: Processes,
  binary: string,
): Promise<TemporalServer> {
  const folder = join(environment.stateDir, "temporal");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const running = (await processes.list()).some(({ name, running }) => name === "temporal" && running);
  const ports = createPorts(environment);
  const claim = async (owner: string, preferred?: number) =>
    await ports.claim({ owner, host: "127.0.0.1", running, ...(preferred === undefined ? {} : { preferred }) });
  const port = await claim("temporal", 7233);
  const ui = await claim("temporal-ui", 8233);
  const http = await claim("temporal-http");
  const metrics = await claim("temporal-metrics");
  await processes.start({
    name: "temporal",
    command: binary,
    args: renderArguments({ database: join(folder, "temporal.db"), port, ui, http, metrics }),
    env: ownSettings,
    ready: async () => (await accepts("127.0.0.1", ui)) && (await knowsAttributes(binary, `127.0.0.1:${port}`)),
    grace: 10_000,
  });
  return { address: `127.0.0.1:${port}`, namespace: "default", ui: `http://127.0.0.1:${ui}` };
}

/** The arguments of the development server. */
export function renderArguments(parts: {
  readonly database: string;
  readonly port: number;
  readonly ui: number;
  readonly http: number;
  readonly metrics: number;
}): string[] {
  const { database, port, ui, http, metrics } = parts;
  return [
    ...["server", "start-dev", "--ip", "127.0.0.1", "--ui-ip", "127.0.0.1"],
    ...[
      "--port",
      String(port),
      "--ui-port",
      String(ui),
      "--http-port",
      String(http),
      "--metrics-port",
      String(metrics),
    ],
    ...["--db-filename", database, "--namespace", "default", "--log-level", "warn"],
    ...searchAttributes.flatMap((name) => ["--search-attribute", `${name}=Keyword`]),
    ...dynamicConfig.flatMap((setting) => ["--dynamic-config-value", setting]),
  ];
}

/** True once the namespace and its search attributes are there: the port opens earlier. */
async function knowsAttributes(binary: string, address: string): Promise<boolean> {
  const args = ["operator", "search-attribute", "list", "--address", address, "--command-timeout", "5s"];
  const { stdout } = await execa(binary, args, { env: ownSettings });
  return searchAttributes.every((name) => stdout.includes(name));
}
