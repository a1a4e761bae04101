import { createSocket } from "node:dgram";

/** Something that stands between processes and a DNS server, and changes answers to questions. Updates go through it as they are. */
export interface Forger {
  readonly endpoint: string;
  stop(): void;
}

/** Answers with what `change` makes of the answers of the server at `endpoint`. */
export async function startForger(
  endpoint: string,
  change: (answer: Buffer) => Buffer | readonly Buffer[],
): Promise<Forger> {
  const socket = createSocket("udp4");
  socket.on("message", (question, { port }) => {
    const onward = createSocket("udp4");
    onward.once("message", (answer) => {
      const isQuery = (answer.readUInt8(2) & 0x78) === 0;
      const packets = isQuery ? [change(Buffer.from(answer))].flat() : [answer];
      for (const packet of packets) socket.send(packet, port, "127.0.0.1");
      onward.close();
    });
    onward.send(question, Number(endpoint.split(":")[1]), "127.0.0.1");
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return { endpoint: `127.0.0.1:${socket.address().port}`, stop: () => void socket.close() };
}
