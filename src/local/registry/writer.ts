import { join } from "node:path";
import { withLock } from "../binary/lock.ts";
import type { Environment } from "../environment/environment.ts";
import type { Processes } from "../process/processes.ts";
import { createPushClient, type PushClient } from "./push-client.ts";
import { startServer } from "./server.ts";

/**
 * Runs `work` with a way to write to the environment's registry: a second server of the same store, on loopback, which asks
 * for a certificate whose key only this user reads, and which ends with the work. One work at a time.
 */
export async function pushing<T>(
  environment: Pick<Environment, "stateDir">,
  processes: Processes,
  binary: string,
  work: (client: PushClient) => Promise<T>,
): Promise<T> {
  return await withLock(join(environment.stateDir, "locks", name), async () => {
    const server = { name, binary, address: "127.0.0.1", access: "write" } as const;
    const { host, authority, writer } = await startServer(environment, processes, server);
    const tls = { ca: authority.certificate, cert: writer.certificate, key: writer.key };
    const client = createPushClient(`https://${host}`, tls);
    try {
      return await work(client);
    } finally {
      await client.close();
      await processes.stop(name);
    }
  });
}

const name = "registry-writer";
