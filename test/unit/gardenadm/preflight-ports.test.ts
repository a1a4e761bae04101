import { createServer, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { portsOf, takenFaults } from "../../../src/gardenadm/preflight/ports.ts";

async function listening<T>(host: string, act: (port: number) => Promise<T>): Promise<T> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  try {
    return await act((server.address() as AddressInfo).port);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

test.each(["0.0.0.0", "127.0.0.1"])(
  "a port that is taken at %s is named with the process that has it",
  async (host) => {
    const taken = await listening(host, async (port) => ({ port, faults: await takenFaults("/", [port]) }));
    expect(taken.faults).toEqual([
      expect.stringMatching(
        new RegExp(
          `^these ports are taken: ${taken.port} \\(\\S+, process ${process.pid}\\): end the processes that have them$`,
        ),
      ),
    ]);
    expect(await takenFaults("/", [taken.port])).toEqual([]);
  },
);

test("several ports that are taken are one sentence, also where the processes are not known", async () => {
  await listening("127.0.0.1", async (one) => {
    await listening("127.0.0.1", async (other) => {
      expect(await takenFaults("/nonexistent", [one, other])).toEqual([
        `these ports are taken: ${one} (unknown), ${other} (unknown): end the processes that have them`,
      ]);
    });
  });
});

test("a worker needs the ports of its node, and a control plane those of all its programs and extensions", () => {
  expect(portsOf("worker", 2)).toEqual([10248, 10250, 10256]);
  const programs = [443, 2379, 2380, 2381, 2382, 2383, 2384, 8082, 8083, 8084, 8085];
  const others = [10248, 10250, 10256, 10257, 10259, 19250, 19251];
  expect(portsOf("control-plane", 0)).toEqual([...programs, ...others]);
  expect(portsOf("control-plane", 2).slice(-10)).toEqual(Array.from({ length: 10 }, (_, index) => 20_100 + index));
});
