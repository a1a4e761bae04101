import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createAsk } from "../../src/dns/ask.ts";
import { createLeaderLookup, createZoneServers, formatLeader, type Leader } from "../../src/dns/index.ts";
import { updateRecords } from "../../src/provider-local/dns/name-server.ts";
import { startForger } from "../support/dns-forger.ts";
import { startNameServer, type TestNameServer } from "../support/name-server.ts";

let dns: TestNameServer;
let record: string;
let count = 0;
const cleanups: (() => Promise<unknown> | void)[] = [];

beforeAll(async () => void (dns = await startNameServer()));
beforeEach(() => void (record = `r${(count += 1)}.leadership.perennial.test`));
afterAll(async () => {
  for (const cleanup of cleanups) await cleanup();
  await dns.stop();
});

const forge = async (change: (answer: Buffer) => Buffer | readonly Buffer[]): Promise<string> => {
  const { endpoint, stop } = await startForger(dns.endpoint, change);
  cleanups.push(stop);
  return endpoint;
};
const lead = (leader: Leader, ttl = 0) =>
  updateRecords(dns.server, dns.zone, { name: record, type: "TXT", values: formatLeader(leader), ttl });
const lookupOf = (endpoint: string, keyFile?: string) =>
  createLeaderLookup(createZoneServers({ servers: [endpoint], keyFile }));

describe("a cache between a seed and the zone's servers", () => {
  test.each([0, 60])("is not believed to know who leads, whatever the time to live: %i s", async (ttl) => {
    const cache = await dns.addCache();
    await lead({ seed: "seed-1", epoch: 9 }, ttl);
    const lookup = lookupOf(cache.endpoint);
    await lookup.ask(record).catch(() => undefined);
    await lead({ seed: "seed-2", epoch: 10 }, ttl);
    await expect(lookup.ask(record)).rejects.toThrow("no AA");
    expect((await lookup.askAll(record))[0]?.error?.message).toContain("no AA");
  });

  test("is told of by the time to live of an answer, where it forges the rest", async () => {
    await lead({ seed: "seed-1", epoch: 1 }, 60);
    await expect(lookupOf(dns.endpoint).ask(record)).rejects.toThrow("lets caches keep");
  });
});

describe("a signed question", () => {
  test("is answered by a server that knows the key, with the answer signed", async () => {
    await lead({ seed: "seed-1", epoch: 10 });
    const lookup = lookupOf(dns.endpoint, dns.askKeyFile);
    expect(await lookup.ask(record)).toEqual({ seed: "seed-1", epoch: 10 });
    expect(await lookup.askAll(record)).toEqual([{ server: dns.endpoint, leader: { seed: "seed-1", epoch: 10 } }]);
  });

  test("is answered over a connection, too, where the answer fits into no packet", async () => {
    const text = "x".repeat(900);
    await updateRecords(dns.server, dns.zone, { name: record, type: "TXT", values: [text], ttl: 0 });
    const zone = createZoneServers({ servers: [dns.endpoint], keyFile: dns.askKeyFile });
    expect(await zone.questions.texts(dns.endpoint, record)).toEqual([text]);
    const plain = await createAsk()(dns.endpoint, { name: record, type: "TXT", recursive: false });
    expect(plain.records.map(({ value }) => value)).toEqual([text]);
  });

  test("is answered by no server that has another key of that name", async () => {
    await lead({ seed: "seed-1", epoch: 1 });
    const lookup = lookupOf(dns.endpoint, await keyFile("ask", "wrong"));
    await expect(lookup.ask(record)).rejects.toThrow("the server says that the signature is wrong (BADSIG)");
  });

  test("is answered by no server that knows no such key", async () => {
    await lead({ seed: "seed-1", epoch: 1 });
    const lookup = lookupOf(dns.endpoint, await keyFile("stranger", "secret"));
    await expect(lookup.ask(record)).rejects.toThrow("the server does not know the key (BADKEY)");
  });

  test("is not answered by what changes an answer on its way, nor is the server's name lent to it", async () => {
    await lead({ seed: "seed-1", epoch: 3 });
    const forger = await forge((answer) => replace(answer, "Epoch=3", "Epoch=4"));
    expect(await lookupOf(forger).ask(record)).toEqual({ seed: "seed-1", epoch: 4 });
    await expect(lookupOf(forger, dns.askKeyFile).ask(record)).rejects.toThrow("the answer's signature is wrong");
  });

  test("is not answered by an answer to an earlier one", async () => {
    await lead({ seed: "seed-1", epoch: 1 });
    let kept: Buffer | undefined;
    const replayer = await forge((answer) => {
      kept ??= answer;
      answer.copy(kept, 0, 0, 2);
      return kept;
    });
    const lookup = lookupOf(replayer, dns.askKeyFile);
    expect(await lookup.ask(record)).toEqual({ seed: "seed-1", epoch: 1 });
    await expect(lookup.ask(record)).rejects.toThrow("the answer's signature is wrong");
  });
});

test("a forged packet does not keep the true answer away", async () => {
  await lead({ seed: "seed-1", epoch: 1 });
  const forged = (answer: Buffer) => [replace(answer, "Epoch=1", "Epoch=9"), Buffer.from("no message"), answer];
  const forger = await forge(forged);
  expect(await lookupOf(forger, dns.askKeyFile).ask(record)).toEqual({ seed: "seed-1", epoch: 1 });
});

function replace(message: Buffer, text: string, other: string): Buffer {
  const changed = Buffer.from(message);
  changed.write(other, changed.indexOf(text), "latin1");
  return changed;
}

async function keyFile(name: string, secret: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-key-"));
  cleanups.push(() => rm(folder, { recursive: true }));
  const file = join(folder, "key");
  const encoded = Buffer.from(secret).toString("base64");
  await writeFile(file, `key "${name}" {\n  algorithm hmac-sha256;\n  secret "${encoded}";\n};\n`);
  return file;
}
