import { createSocket } from "node:dgram";
import { connect, isIP, isIPv6 } from "node:net";
import { LONGEST_MESSAGE } from "./wire/message.ts";

/** Sends one message to a server and answers with what `read` makes of the response; `read` throws for what is none. */
export type Transport = <T>(server: string, message: Buffer, read: (response: Buffer) => T) => Promise<T>;

/** The two ways to a server: packets, and a connection for what does not fit into one. */
export interface Transports {
  readonly udp: Transport;
  readonly tcp: Transport;
}

/** In ms: a server that is silent for this long is asked once more, and once only; about 2 s in all. */
const TIMEOUT = 1_000;

/** The network of this machine. */
export const network: Transports = {
  udp: async (server, message, read) => {
    const first = await sendPacket(server, message, read);
    if ("answer" in first) return first.answer;
    const second = await sendPacket(server, message, read);
    if ("answer" in second) return second.answer;
    throw new Error(second.refused ?? first.refused ?? "it does not answer");
  },
  tcp: sendOverConnection,
};

type Outcome<T> = { readonly answer: T } | { readonly refused: string | undefined };

/**
 * From a port of its own each time. A packet that is no answer to the message, such as a forged one, does not end the
 * wait: the true answer may follow it.
 */
function sendPacket<T>(server: string, message: Buffer, read: (response: Buffer) => T): Promise<Outcome<T>> {
  const { address, port } = parseServer(server);
  const socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
  return new Promise<Outcome<T>>((resolve, reject) => {
    let refused: string | undefined;
    let ended = false;
    const end = (act: () => void) => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      socket.close();
      act();
    };
    const timer = setTimeout(() => end(() => resolve({ refused })), TIMEOUT);
    socket.once("error", (error) => end(() => reject(error)));
    socket.on("message", (packet) => {
      try {
        const answer = read(packet);
        end(() => resolve({ answer }));
      } catch (error) {
        refused = error instanceof Error ? error.message : String(error);
      }
    });
    // Connected: packets of other senders do not reach it, and a closed port is told at once.
    socket.connect(port, address, () => socket.send(message));
  });
}

/** A message on a connection has its length before it (RFC 1035, 4.2.2). */
function sendOverConnection<T>(server: string, message: Buffer, read: (response: Buffer) => T): Promise<T> {
  const { address, port } = parseServer(server);
  const socket = connect({ host: address, port });
  return new Promise<T>((resolve, reject) => {
    let received = Buffer.alloc(0);
    // From the start, and not since the last byte: a server could send its answer byte by byte.
    const timer = setTimeout(() => end(() => reject(new Error("it does not answer"))), 2 * TIMEOUT);
    const end = (act: () => void) => {
      clearTimeout(timer);
      socket.destroy();
      act();
    };
    const length = Buffer.alloc(2);
    length.writeUInt16BE(message.length);
    socket.once("connect", () => socket.write(Buffer.concat([length, message])));
    socket.once("error", (error) => end(() => reject(error)));
    socket.once("end", () => end(() => reject(new Error("it closed the connection"))));
    socket.on("data", (data) => {
      received = Buffer.concat([received, data]);
      const size = received.length < 2 ? undefined : received.readUInt16BE(0);
      if (size !== undefined && size > LONGEST_MESSAGE) end(() => reject(new Error("its answer is too long")));
      else if (size !== undefined && received.length >= 2 + size)
        end(() => {
          try {
            resolve(read(received.subarray(2, 2 + size)));
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
          }
        });
    });
  });
}

/** `address`, `address:port` or `[address]:port`. */
function parseServer(server: string): { readonly address: string; readonly port: number } {
  if (isIP(server) !== 0) return { address: server, port: 53 };
  const [, address, port] = /^\[?([^\]]+?)\]?(?::(\d+))?$/.exec(server) ?? [];
  if (address === undefined || isIP(address) === 0) throw new Error(`${server} is no address of a server`);
  return { address, port: Number(port ?? 53) };
}
