import { createServer as createHttpsServer } from "node:https";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClusterEndpoint } from "../../../src/api/cluster-api/index.ts";
import { createProber, type Prober } from "../../../src/cluster-api/endpoint/prober.ts";
import { createLogger } from "../../../src/log.ts";
import { makeCertificates, type Certificates } from "../../support/certificates.ts";
import { endpointOf } from "../../support/cluster-endpoints.ts";
import { eventually } from "../../support/eventually.ts";

/** As many endpoints as filled the prober for more than its minute, of 32 questions at a time and five seconds each. */
const SILENT = 400;
const namespace = "fleet";

let certificates: Certificates;
let answers: Server;
let silence: Server;
let asked = 0;
const sockets = new Set<Socket>();

beforeAll(async () => {
  certificates = await makeCertificates();
  const { serverCert: cert, serverKey: key } = certificates;
  answers = await listen(createHttpsServer({ cert, key }, (_, answer) => (asked++, answer.writeHead(401).end())));
  silence = await listen(
    createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    }),
  );
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of [answers, silence]) server.close();
});

async function listen<S extends Server>(server: S): Promise<S> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

const silent = Array.from({ length: SILENT }, (_, index) => `silent-${index}`);

/** A prober that knows these endpoints, of which each is at one of the two servers by its name. */
function newProber(period: number): Prober {
  const find = (name: string): ClusterEndpoint =>
    endpointOf({ name, host: "127.0.0.1", port: portOf(name.startsWith("silent") ? silence : answers) });
  return createProber({
    endpoint: ({ name }) => find(name),
    trust: () => ({ ca: certificates.ca, server: undefined }),
    moves: () => false,
    onChange: () => undefined,
    log: createLogger({ name: "test", level: "silent" }),
    period,
  });
}

const servingOf = (prober: Prober, name: string) => prober.servingOf(endpointOf({ name }));

test("an endpoint that answers is asked each period, whatever hundreds of endpoints that never answer fill the prober", async () => {
  const prober = newProber(100);
  prober.start();
  prober.ask({ namespace, name: "quick" });
  await eventually(() => expect(servingOf(prober, "quick")).toMatchObject({ status: "True" }));
  const before = asked;
  for (const name of silent) prober.ask({ namespace, name });
  await eventually(() => asked >= before + 5);
  const decided = silent.filter((name) => servingOf(prober, name) !== undefined);
  expect(decided.length, "endpoints that were given up meanwhile").toBeLessThan(SILENT / 2);
  await prober.stop();
});

test("a prober stops without waiting for endpoints that do not answer", async () => {
  const prober = newProber(100);
  prober.start();
  for (const name of silent) prober.ask({ namespace, name });
  await eventually(() => sockets.size > 0);
  await prober.stop();
  expect(silent.filter((name) => servingOf(prober, name) !== undefined)).toEqual([]);
});
