import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from "node:http";
import { Agent, createServer, request } from "node:https";
import type { Duplex } from "node:stream";
import { Transform } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import type { Certificates } from "./certificates.ts";

/** What PERENNIAL_TEST_DELAY delays by 250 ms: every response of API servers, or every watch event. */
export type Late = "answers" | "watches";

/** The delay that is configured; undefined for none. */
export const late = readLate(process.env["PERENNIAL_TEST_DELAY"]);

/** Flags with which an API server accepts the user name that the link sends (front-proxy authentication). */
export const linkFlags = (ca: string): readonly string[] => [
  `--requestheader-client-ca-file=${ca}`,
  "--requestheader-allowed-names=front-proxy",
  "--requestheader-username-headers=X-Remote-User",
  "--requestheader-group-headers=X-Remote-Group",
];

/** The address the link listens on, and the loopback port of the API server. */
interface LinkOptions {
  readonly late: Late;
  readonly address: string;
  readonly port: number;
  readonly upstream: number;
  readonly certificates: Certificates;
}

/** Starts a slow TLS proxy in front of an API server; it serves the API server's certificate and forwards the client's identity. */
export async function startSlowLink({ late, address, port, upstream, certificates }: LinkOptions) {
  const { ca, serverCert, serverKey, proxyCert, proxyKey } = certificates;
  const agents = {
    link: new Agent({ keepAlive: true, ca, cert: proxyCert, key: proxyKey }),
    client: new Agent({ keepAlive: true, ca }), // its token says who it is
  };
  const ask = (incoming: IncomingMessage) => {
    const identity = identityOf(incoming.socket as TLSSocket);
    return request({
      ...{ host: "127.0.0.1", port: upstream, servername: "localhost", method: incoming.method, path: incoming.url },
      agent: identity === undefined ? agents.client : agents.link,
      headers: { ...passed(incoming.headers), ...identity },
    });
  };
  const pass: RequestListener = (incoming, outgoing) => {
    const asked = ask(incoming);
    const isWatch = /[?&]watch=(1|true)/.test(incoming.url ?? "");
    asked.on("error", () => incoming.socket.destroy());
    asked.on("response", (answer) => {
      void pause(late === "answers").then(() => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        const body = isWatch && late === "watches" ? answer.pipe(slowly()) : answer;
        answer.on("error", () => outgoing.destroy());
        body.pipe(outgoing);
        outgoing.flushHeaders();
      });
    });
    outgoing.on("close", () => asked.destroy());
    incoming.pipe(asked);
  };
  const server = createServer(
    { cert: serverCert, key: serverKey, ca, requestCert: true, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] },
    pass,
  );
  server.on("upgrade", (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    const asked = ask(incoming);
    asked.on("error", () => socket.destroy());
    asked.on("response", (answer) => answer.pipe(socket));
    asked.on("upgrade", (answer, other, rest: Buffer) => {
      const headers = answer.rawHeaders.flatMap((name, at) =>
        at % 2 === 0 ? [`${name}: ${answer.rawHeaders[at + 1]}`] : [],
      );
      socket.write(`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n${headers.join("\r\n")}\r\n\r\n`);
      socket.write(rest);
      other.write(head);
      other.on("error", () => socket.destroy()).pipe(socket);
      socket.on("error", () => other.destroy()).pipe(other);
    });
    asked.end();
  });
  Object.assign(server, { keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, address, resolve));
  return {
    /** Closes all connections and stops listening. */
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      agents.link.destroy();
      agents.client.destroy();
      await closed;
    },
  };
}

const DELAY = 250;

const pause = async (really: boolean): Promise<void> => {
  if (really) await sleep(DELAY);
};

/** Delays each chunk by the same time, in order, without lowering the throughput. */
function slowly(): Transform {
  let last: Promise<void> = Promise.resolve();
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const due = sleep(DELAY);
      last = Promise.all([last, due]).then(() => void this.push(chunk));
      done();
    },
    flush: (done) => void last.then(() => done()),
  });
}

/** Returns the user and groups of a client certificate, as an API server derives them. */
function identityOf(socket: TLSSocket): IncomingHttpHeaders | undefined {
  if (!socket.authorized) return undefined;
  const { CN, O } = socket.getPeerCertificate().subject as { CN?: string; O?: string | string[] };
  return { "x-remote-user": CN ?? "", "x-remote-group": [O ?? []].flat() as unknown as string };
}

const passed = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith("x-remote-")));

function readLate(text: string | undefined): Late | undefined {
  if (text === undefined || text === "answers" || text === "watches") return text;
  throw new Error(`PERENNIAL_TEST_DELAY is ${JSON.stringify(text)}: it may be answers or watches`);
}
