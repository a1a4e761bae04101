import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { PeerCertificate, TLSSocket } from "node:tls";
import { limitConnections } from "../limit-connections.ts";
import type { Logger } from "../log.ts";
import { followCredentials, readCredentials, type ServerFiles } from "./server-credentials.ts";

/** Who is at the other end of a connection. */
export interface Peer {
  /** A certificate that one of the authorities has signed; it may have expired since. */
  readonly certificate: PeerCertificate;
  readonly address: string;
}

/** What connections are for. */
export interface ConnectionsDeps {
  readonly files: ServerFiles;
  /** Answers what happens when the connection closes; throws to refuse it. */
  readonly admit: (peer: Peer) => () => void;
  readonly serve: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, peer: Peer) => void;
  readonly log: Logger;
}

/** A server of HTTP/2 over TLS with client certificates. */
export interface Connections {
  /** Resolves with the port. */
  start(address: { readonly host: string; readonly port: number }): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Bounds what a connection may cost: unfinished handshakes, headers, streams, memory and age. It turns away callers whose
 * certificate none of the authorities has signed, and follows the files.
 */
export async function createConnections({ files, admit, serve, log }: ConnectionsDeps): Promise<Connections> {
  const server = createSecureServer({ ...(await readCredentials(files)), ...BOUNDS });
  const sessions = new Set<ServerHttp2Session>();
  const handshakes = limitConnections(server, MOST_HANDSHAKES, "secureConnection");

  server.on("session", (session) => {
    const { socket } = session;
    session.on("error", (error) => log.debug({ err: error }, "connection failed"));
    const peer = peerOf(socket as TLSSocket);
    try {
      session.once("close", admit(peer));
    } catch {
      return session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    }
    sessions.add(session);
    const age = setTimeout(() => retire(session), LONGEST_CONNECTION * (0.9 + 0.1 * Math.random())).unref();
    session.once("close", () => {
      clearTimeout(age);
      sessions.delete(session);
    });
    session.on("stream", (stream, headers) => {
      stream.on("error", (error) => log.debug({ err: error }, "call failed"));
      serve(stream, headers, peer);
    });
  });

  const following = followCredentials(server, files, log);
  return {
    start: ({ host, port }) => listen(server, host, port),
    async stop() {
      following.stop();
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      handshakes.endAll();
      for (const session of sessions) retire(session);
      const force = setTimeout(() => sessions.forEach((session) => session.destroy()), GRACE);
      await closed;
      clearTimeout(force);
    },
  };
}

const BOUNDS = {
  requestCert: true,
  rejectUnauthorized: true,
  /** In ms. */
  handshakeTimeout: 10_000,
  /** In MB. */
  maxSessionMemory: 64,
  settings: { maxConcurrentStreams: 200, maxHeaderListSize: 8 * 1024 },
};

/** In ms: after this a caller connects anew, and so shows its certificate again; Temporal's own frontend does the same. */
const LONGEST_CONNECTION = 5 * 60_000;

/** In ms: what calls have left on a connection that takes no new ones. */
const LONGEST_CALL = 70_000;

/** In ms: what stopping leaves calls that are under way. Polls are cut off; their callers poll elsewhere. */
const GRACE = 2_000;

/** Takes no new calls; callers repeat elsewhere what they had just begun. */
function retire(session: ServerHttp2Session): void {
  session.goaway(constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1);
  session.close();
  const cut = setTimeout(() => session.destroy(), LONGEST_CALL).unref();
  session.once("close", () => clearTimeout(cut));
}

/** Handshakes take milliseconds: of more that are unfinished, the oldest is no caller's. */
const MOST_HANDSHAKES = 256;

const peerOf = (socket: TLSSocket): Peer => ({
  certificate: socket.getPeerCertificate(),
  address: `${socket.remoteAddress}:${socket.remotePort}`,
});

function listen(server: Http2SecureServer, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}
