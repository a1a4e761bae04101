import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { formatLeader, type Leader } from "../../src/dns/index.ts";
import { updateLeader } from "../../src/provider-local/dns/leader-record.ts";
import { queryRecords, updateRecords, type NameServer } from "../../src/provider-local/dns/name-server.ts";
import { startForger } from "../support/dns-forger.ts";
import { startNameServer, type TestNameServer } from "../support/name-server.ts";

let dns: TestNameServer;
let name: string;
let count = 0;

beforeAll(async () => void (dns = await startNameServer()));
beforeEach(() => void (name = `leader-${(count += 1)}.perennial.test`));
afterAll(() => dns.stop());

const { signal } = new AbortController();
const update = (leader: Leader, server: NameServer = dns.server) =>
  updateLeader({ server, zone: dns.zone, name, ttl: 0, signal }, leader, true);
const write = (leader: Leader) =>
  updateRecords(dns.server, dns.zone, { name, type: "TXT", values: formatLeader(leader), ttl: 0 });
const held = () => queryRecords(dns.server, { name, type: "TXT" });

test("a leader is not replaced by another one of the same epoch, nor by an earlier one", async () => {
  await write({ seed: "seed-2", epoch: 10 });
  for (const epoch of [10, 9])
    await expect(update({ seed: "seed-1", epoch })).rejects.toThrow(
      `cannot let seed-1 lead in epoch ${epoch}: ${name} says that seed-2 leads in epoch 10`,
    );
  expect(await held()).toEqual(["Epoch=10", "Seed=seed-2"]);
});

test("a leader is followed by one of the next epoch, also where that has one digit more", async () => {
  await write({ seed: "seed-1", epoch: 9 });
  await update({ seed: "seed-2", epoch: 10 });
  expect(await held()).toEqual(["Epoch=10", "Seed=seed-2"]);
});

test("a writer that slept between reading and writing changes nothing", async () => {
  await write({ seed: "seed-1", epoch: 1 });
  let early: Buffer | undefined;
  const { endpoint, stop } = await startForger(dns.endpoint, (answer) => {
    early ??= answer;
    answer.copy(early, 0, 0, 2);
    return early;
  });
  const sleepy = { ...dns.server, port: Number(endpoint.split(":")[1]) };
  await update({ seed: "seed-1", epoch: 1 }, sleepy); // reads what it will have read
  await write({ seed: "seed-3", epoch: 3 });
  await expect(update({ seed: "seed-2", epoch: 2 }, sleepy)).rejects.toThrow(/NXRRSET/);
  stop();
  expect(await held()).toEqual(["Epoch=3", "Seed=seed-3"]);
});
