// undici's main file loads fetch, caches, sockets and mocks, too: 5 MB of each process.
import Agent from "undici/lib/dispatcher/agent.js";
import type { Tls } from "./credentials.ts";

/** Connections of one identity: a bounded pool for calls, and one connection per stream, so that watches never starve calls. */
export interface Pools {
  readonly calls: Agent;
  readonly streams: Agent;
}

/** Keeps the pools of the identity in use; when it changes (certificates rotate) the old ones drain. */
export function createPools(): { use(tls: Tls): Pools; close(): Promise<void> } {
  let identity: string | undefined;
  let pools: Pools | undefined;
  return {
    use(tls) {
      const wanted = JSON.stringify(tls);
      if (pools !== undefined && wanted === identity) return pools;
      void pools?.calls.close();
      void pools?.streams.close();
      identity = wanted;
      pools = openPools(tls);
      return pools;
    },
    async close() {
      await Promise.all([pools?.calls.close(), pools?.streams.destroy()]);
    },
  };
}

function openPools(tls: Tls): Pools {
  // HTTP/2 shares 100 streams per connection, and watches hold theirs; HTTP/1.1 is as fast.
  const shared = { allowH2: false, keepAliveTimeout: 60_000, connect: { ...tls, timeout: 10_000 } };
  return {
    calls: new Agent({ ...shared, connections: 16, headersTimeout: 65_000, bodyTimeout: 60_000 }),
    // A watch gets a bookmark every minute: silence for longer is a lost connection.
    streams: new Agent({ ...shared, headersTimeout: 30_000, bodyTimeout: 150_000 }),
  };
}
