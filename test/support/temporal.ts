import { mkdtemp, rm } from "node:fs/promises";
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
  const [port] = await freePorts(1);
  const address = `127.0.0.1:${port}`;
  const file = o.keepsFile ? ["--db-filename", join(directory, "temporal.db")] : [];
  const start = () => spawnChild(directory, "temporal", [...flags(String(port), o), ...file]);
  let server = await start();
  const client = await connect(address, server);
  const connection = await NativeConnection.connect({ address });
  return {
    address,
    client,
    connection,
    kill: () => server.kill(),
    async restart() {
      await server.kill();
      server = await start();
      await (await connect(address, server)).connection.close();
    },
    async stop() {
      await connection.close();
      await client.connection.close();
      await server.kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The development server polls its queues twenty times a second; a hop then costs 100 ms instead of 12. */
function flags(port: string, { longHistory }: TemporalOptions): string[] {
  const dynamic = ["history.transferProcessorMaxPollRPS=2000", "history.timerProcessorMaxPollRPS=2000"];
  if (longHistory !== undefined) dynamic.push(`limit.historyCount.suggestContinueAsNew=${longHistory}`);
  return [
    ...["server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", port, "--log-level", "error"],
    ...dynamic.flatMap((value) => ["--dynamic-config-value", value]),
    ...Object.values(searchAttributes).flatMap(({ name }) => ["--search-attribute", `${name}=Keyword`]),
  ];
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
