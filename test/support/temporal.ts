import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@temporalio/client";
import { NativeConnection } from "@temporalio/worker";
import { connectTemporal } from "../../src/client/connect.ts";
import { searchAttributes } from "../../src/workflows/contract.ts";
import { spawnChild, type Child } from "./child.ts";
import { freePorts } from "./free-ports.ts";
import { claimDirectory, controlPlanePrefix, sweepLeftovers } from "./leftovers.ts";

/** A real Temporal server on loopback. */
export interface TemporalServer {
  readonly address: string;
  readonly client: Client;
  readonly connection: NativeConnection;
  /** SIGKILLs it; what it had written to its file stays. */
  kill(): Promise<void>;
  /** Starts it again at the same address; with what it knew before if it keeps a file. */
  restart(): Promise<void>;
  /** Copies the file aside, and returns what puts it back; each restarts the server. Only with a file. */
  backUp(): Promise<{ restore(): Promise<void> }>;
  stop(): Promise<void>;
}

/** What is special about a test's server. */
export interface TemporalOptions {
  /** It knows after a restart what it knew before. */
  readonly keepsFile?: boolean;
  /** After how many events a workflow is told to continue as new. */
  readonly longHistory?: number;
}

/** Starts a Temporal server of its own, with our search attributes, in memory unless told otherwise. It dies with this process. */
export async function startTemporal(o: TemporalOptions = {}): Promise<TemporalServer> {
  await sweepLeftovers();
  const directory = await mkdtemp(join(tmpdir(), controlPlanePrefix));
  await claimDirectory(directory);
  const [port = 0] = await freePorts(1);
  const address = `127.0.0.1:${port}`;
  const file = o.keepsFile ? ["--db-filename", join(directory, "temporal.db")] : [];
  const start = async () => spawnChild(directory, "temporal", [...(await flags(port, o)), ...file]);
  const first = await startListening(start, address);
  const { client } = first;
  let { server } = first;
  const connection = await NativeConnection.connect({ address });
  const restart = async () => {
    await server.kill();
    const again = await startListening(start, address);
    server = again.server;
    await again.client.connection.close();
  };
  /** Copies the database, with what is not in its main file yet. */
  const copy = async (from: string, to: string) => {
    await Promise.all((await filesIn(to)).map((name) => rm(join(to, name))));
    for (const name of await filesIn(from)) await cp(join(from, name), join(to, name));
  };
  return {
    address,
    client,
    connection,
    kill: () => server.kill(),
    restart,
    async backUp() {
      const aside = await mkdtemp(join(directory, "backup-"));
      await server.kill();
      await copy(directory, aside);
      await restart();
      return {
        async restore() {
          await server.kill();
          await copy(aside, directory);
          await restart();
        },
      };
    },
    async stop() {
      await connection.close();
      await client.connection.close();
      await server.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const filesIn = async (directory: string): Promise<string[]> =>
  (await readdir(directory)).filter((name) => name.startsWith("temporal.db"));

/** The development server polls its queues twenty times a second; a hop then costs 100 ms instead of 12. */
async function flags(port: number, { longHistory }: TemporalOptions): Promise<string[]> {
  const [http = 0, metrics = 0] = await freePorts(2);
  const dynamic = ["history.transferProcessorMaxPollRPS=2000", "history.timerProcessorMaxPollRPS=2000"];
  if (longHistory !== undefined) dynamic.push(`limit.historyCount.suggestContinueAsNew=${longHistory}`);
  return [
    ...["server", "start-dev", "--headless", "--ip", "127.0.0.1", "--log-level", "error"],
    ...["--port", String(port), "--http-port", String(http), "--metrics-port", String(metrics)],
    ...dynamic.flatMap((value) => ["--dynamic-config-value", value]),
    ...Object.values(searchAttributes).flatMap(({ name }) => ["--search-attribute", `${name}=Keyword`]),
  ];
}

/**
 * Starts the server until it listens. It chooses the ports of its inner services itself, lets go of them and binds them
 * a second later: an outgoing connection of any other test may have got one of them by then, and the server ends itself.
 */
async function startListening(
  start: () => Promise<Child>,
  address: string,
): Promise<{ readonly server: Child; readonly client: Client }> {
  for (let attempt = 1; ; attempt += 1) {
    const server = await start();
    try {
      return { server, client: await connect(address, server) };
    } catch (error) {
      await server.kill();
      if (attempt === 3 || !server.output().includes("bind: address already in use")) throw error;
    }
  }
}

async function connect(address: string, server: Child): Promise<Client> {
  for (let attempt = 0; server.alive() && attempt < 100; attempt += 1) {
    try {
      const client = await connectTemporal({ address, namespace: "default" });
      await client.workflowService.describeNamespace({ namespace: "default" });
      return client;
    } catch {
      await sleep(200);
    }
  }
  throw new Error(`Temporal did not start: ${server.output()}`);
}
