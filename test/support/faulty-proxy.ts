import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { Agent, request } from "undici";
import { parseKubeconfig, renderKubeconfig } from "../../src/kube/index.ts";

/** What the proxy does to a request instead of passing it on: an answer of its own, or a cut connection. */
export type Fault =
  { readonly status: number; readonly headers?: Record<string, string>; readonly body?: object } | "reset";

/** A request that passes: before it is passed on, and again before its answer is. */
export interface Passing {
  /** The same at both moments, and different for each request. */
  readonly id: number;
  /** Method and path. */
  readonly line: string;
  /** What it brings; empty for a GET. */
  readonly body: Buffer;
  readonly moment: "asked" | "answered";
}

/** A proxy in front of an API server that misbehaves on demand and counts what it sees. */
export interface FaultyProxy {
  /** A file, because it is plain HTTP, which a kubeconfig out of a cluster may not have. */
  readonly kubeconfigFile: string;
  /** Method and path of every request so far. */
  readonly requests: string[];
  /** How many connections were opened so far. */
  connections(): number;
  /** Meets the next requests that match with these faults, one each. */
  fail(match: RegExp, ...faults: readonly Fault[]): void;
  /** Shows each request that passes from now on; one for which the answer is false goes no further, and its connection is cut. */
  watch(look: (passing: Passing) => boolean | Promise<boolean>): void;
  /** Cuts all connections, and refuses requests until `mend`. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Starts a proxy on loopback; `kubeconfig` must authenticate with a token. */
export async function startFaultyProxy(kubeconfig: string): Promise<FaultyProxy> {
  const { server: upstream, cluster, user } = parseKubeconfig(kubeconfig);
  const ca = Buffer.from(String(cluster["certificate-authority-data"]), "base64").toString();
  const agent = new Agent({ allowH2: false, connect: { ca }, bodyTimeout: 0 });
  const requests: string[] = [];
  let faults: { readonly match: RegExp; readonly fault: Fault }[] = [];
  let broken = false;
  let connections = 0;
  let look: Parameters<FaultyProxy["watch"]>[0] = () => true;

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const line = `${incoming.method} ${incoming.url}`;
    const id = requests.push(line);
    const planned = faults.find(({ match }) => match.test(line));
    faults = faults.filter((fault) => fault !== planned);
    const fault = broken ? "reset" : planned?.fault;
    if (fault === "reset") return void incoming.socket.destroy();
    if (fault !== undefined) {
      outgoing.writeHead(fault.status, { "content-type": "application/json", ...fault.headers });
      return void outgoing.end(fault.body === undefined ? "" : `${JSON.stringify(fault.body)}\n`);
    }
    const body = incoming.method === "GET" ? Buffer.alloc(0) : await buffer(incoming);
    if (!(await look({ id, line, body, moment: "asked" }))) return void outgoing.destroy();
    const answer = await request(upstream + incoming.url, {
      dispatcher: agent,
      method: incoming.method as "GET",
      // Clients in Go send no token over plain HTTP.
      headers: {
        authorization: `Bearer ${String(user["token"])}`,
        ...incoming.headers,
        host: undefined,
        connection: undefined,
        "transfer-encoding": undefined,
      },
      body: incoming.method === "GET" ? null : body,
    });
    if (!(await look({ id, line, body, moment: "answered" }))) {
      answer.body.on("error", () => {}).destroy();
      return void outgoing.destroy();
    }
    outgoing.writeHead(answer.statusCode, answer.headers);
    outgoing.on("close", () => answer.body.on("error", () => {}).destroy());
    answer.body.on("error", () => outgoing.destroy()).pipe(outgoing);
  }

  const server = createServer((incoming, outgoing) => {
    const { socket } = incoming; // the request loses it when the connection goes
    handle(incoming, outgoing).catch(() => socket.destroy());
  });
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const directory = await mkdtemp(join(tmpdir(), "faulty-proxy-"));
  const kubeconfigFile = join(directory, "kubeconfig.yaml");
  const text = renderKubeconfig({ server: `http://127.0.0.1:${port}`, ca, token: String(user["token"]) });
  await writeFile(kubeconfigFile, text, { mode: 0o600 });
  return {
    kubeconfigFile,
    requests,
    connections: () => connections,
    fail: (match, ...more) => void faults.push(...more.map((fault) => ({ match, fault }))),
    watch: (next) => void (look = next),
    cut() {
      broken = true;
      server.closeAllConnections();
    },
    mend: () => void (broken = false),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await agent.destroy();
      await rm(directory, { recursive: true });
    },
  };
}
