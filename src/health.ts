import { createServer, type Server } from "node:http";
import { limitConnections } from "./limit-connections.ts";

/** What a process tells its supervisor; `ready` is asked anew each time. */
export interface HealthOptions {
  readonly port: number;
  readonly ready: () => boolean;
  /** Further metrics, in Prometheus' text format; asked anew each time. */
  readonly metrics?: () => string;
}

/** Serves /healthz, /readyz and /metrics (the process's own figures, and others) on plain HTTP; port 0 serves nothing. */
export async function serveHealth({ port, ...tell }: HealthOptions): Promise<{ stop(): Promise<void> }> {
  if (port === 0) return { stop: async () => {} };
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 5_000 }, (request, response) => {
    const { status, body } = answer(request.url ?? "/", tell);
    response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${body}\n`);
  });
  limitConnections(server, MOST_CONNECTIONS);
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, resolve));
  return { stop: () => close(server) };
}

/** Any pod that reaches the process may connect, not only kubelets and Prometheus. */
const MOST_CONNECTIONS = 100;

function answer(path: string, { ready, metrics }: Omit<HealthOptions, "port">): { status: number; body: string } {
  if (path === "/healthz") return { status: 200, body: "ok" };
  if (path === "/readyz") return ready() ? { status: 200, body: "ok" } : { status: 503, body: "not ready" };
  if (path === "/metrics")
    return { status: 200, body: ownFigures() + (metrics === undefined ? "" : `\n${metrics().trimEnd()}`) };
  return { status: 404, body: "not found" };
}

/** Names as Prometheus' client libraries give them. */
function ownFigures(): string {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    `process_resident_memory_bytes ${rss}`,
    `nodejs_heap_size_used_bytes ${heapUsed}`,
    `process_cpu_seconds_total ${(user + system) / 1e6}`,
  ].join("\n");
}

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
