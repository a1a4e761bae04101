import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createAsk } from "../../../src/dns/index.ts";
import { network } from "../../../src/dns/transport.ts";
import { writeAnswer } from "../../support/dns-messages.ts";

const name = "shoot.leadership.test";
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

async function open(): Promise<Socket> {
  const socket = createSocket("udp4");
  sockets.push(socket);
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return socket;
}

const answerOf = (question: Buffer, value: string): Buffer =>
  writeAnswer(question, { answers: [{ name, type: "TXT", ttl: 0, value }] });

test("a packet that another sender than the server sends is not believed, even if it is there first", async () => {
  const [server, stranger] = [await open(), await open()];
  server.on("message", (question, { port, address }) => {
    stranger.send(answerOf(question, "Seed=stranger"), port, address, () =>
      server.send(answerOf(question, "Seed=server"), port, address),
    );
  });
  const { records } = await createAsk()(`127.0.0.1:${server.address().port}`, { name, type: "TXT", recursive: false });
  expect(records.map(({ value }) => value)).toEqual(["Seed=server"]);
});

test("a server that sends its answer byte by byte does not keep its caller for longer than one that is silent", async () => {
  const server = createServer((socket) => {
    const dripping = setInterval(() => socket.write(Buffer.of(1)), 100);
    socket.on("error", () => undefined).on("close", () => clearInterval(dripping));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await expect(network.tcp(`127.0.0.1:${port}`, Buffer.of(0), String)).rejects.toThrow("it does not answer");
  server.close();
});
