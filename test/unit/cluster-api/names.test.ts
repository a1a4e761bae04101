import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import { createSocket, type Socket } from "node:dgram";
import type { LookupAddress } from "node:dns";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createMemberProber } from "../../../src/cluster-api/endpoint-record/member-prober.ts";
import { createProber } from "../../../src/cluster-api/endpoint/prober.ts";
import { followHosts } from "../../../src/cluster-api/names/hosts.ts";
import { createLookup, type LookupOptions } from "../../../src/cluster-api/names/lookup.ts";
import { createLogger } from "../../../src/log.ts";
import { makeCertificates, type Certificates } from "../../support/certificates.ts";
import { endpointOf } from "../../support/cluster-endpoints.ts";
import { eventually } from "../../support/eventually.ts";

/** What a name server of the tests knows; of names in `dead.test` it says nothing at all, and of those in `broken.test` that it failed. */
const zone: Readonly<Record<string, readonly [type: number, data: readonly number[]]>> = {
  "api.example.test": [1, [192, 0, 2, 1]],
  "six.example.test": [28, [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]],
  "kubernetes.default.svc.cluster.test": [1, [192, 0, 2, 2]],
  "short.cluster.test": [1, [192, 0, 2, 3]],
};

const log = createLogger({ name: "test", level: "silent" });
const asked: string[] = [];
let names: Socket;
let directory: string;
let certificates: Certificates;
let server: Server;

beforeAll(async () => {
  certificates = await makeCertificates();
  const { serverCert: cert, serverKey: key } = certificates;
  server = createServer({ cert, key }, (_, answer) => void answer.writeHead(200).end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  names = createSocket("udp4", (question, { port, address }) => {
    const answer = answerTo(question);
    if (answer !== undefined) names.send(answer, port, address);
  });
  await new Promise<void>((resolve) => names.bind(0, "127.0.0.1", resolve));
  directory = await mkdtemp(join(tmpdir(), "perennial-names-"));
  await writeFile(
    join(directory, "hosts"),
    "127.0.0.9 Alias.test other.test # other.test\n::9 alias.test\nno-address x.test\n",
  );
  await writeFile(
    join(directory, "resolv.conf"),
    "nameserver 192.0.2.9\nsearch cluster.test example.test.\noptions ndots:5\n",
  );
});
afterAll(async () => {
  names.close();
  server.close();
  await rm(directory, { recursive: true });
});

/** A DNS message (RFC 1035) that says what the zone has of a question. */
function answerTo(question: Buffer): Buffer | undefined {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.subarray(at + 1, at + 1 + length).toString());
    at += 1 + length;
  }
  const [name, type] = [labels.join(".").toLowerCase(), question.readUInt16BE(at + 1)];
  asked.push(name);
  if (name.endsWith("dead.test")) return undefined;
  const found = zone[name];
  const absence = found === undefined ? 3 : 0;
  const code = name.endsWith("broken.test") ? 2 : absence;
  const data = found?.[0] === type ? found[1] : [];
  const head = Buffer.from(question.subarray(0, at + 5));
  head.writeUInt16BE(0x8180 | code, 2);
  [1, data.length > 0 ? 1 : 0, 0, 0].forEach((count, index) => head.writeUInt16BE(count, 4 + 2 * index));
  return data.length === 0
    ? head
    : Buffer.from([...head, 0xc0, 12, 0, type, 0, 1, 0, 0, 0, 1, 0, data.length, ...data]);
}

const find = async (name: string, o: Partial<LookupOptions> = {}): Promise<readonly LookupAddress[] | string> => {
  const { port } = names.address();
  const files = { hostsFile: join(directory, "hosts"), resolverFile: join(directory, "none") };
  const lookup = createLookup({ servers: [`127.0.0.1:${port}`], ...files, ...o });
  return await new Promise((resolve) =>
    lookup(name, { all: true }, (error, found) => resolve(error ? (error.code ?? "") : found)),
  );
};

test("a name is looked up in the file of hosts first, in whatever letters, and then at name servers, for both families", async () => {
  expect(await find("ALIAS.test")).toEqual([
    { address: "127.0.0.9", family: 4 },
    { address: "::9", family: 6 },
  ]);
  expect(await find("other.test")).toEqual([{ address: "127.0.0.9", family: 4 }]);
  expect(asked).toEqual([]);
  expect(await find("api.example.test")).toEqual([{ address: "192.0.2.1", family: 4 }]);
  expect(await find("six.example.test")).toEqual([{ address: "2001:db8::1", family: 6 }]);
});

test("a name with a dot is tried as it stands, then in the domains that are searched; one without, the other way round", async () => {
  const searching = { resolverFile: join(directory, "resolv.conf") };
  asked.length = 0;
  expect(await find("api.example.test", searching)).toEqual([{ address: "192.0.2.1", family: 4 }]);
  expect(new Set(asked)).toEqual(new Set(["api.example.test"]));
  expect(await find("kubernetes.default.svc", searching)).toEqual([{ address: "192.0.2.2", family: 4 }]);
  asked.length = 0;
  expect(await find("short", searching)).toEqual([{ address: "192.0.2.3", family: 4 }]);
  expect(new Set(asked)).toEqual(new Set(["short.cluster.test"]));
  expect(await find("api", searching)).toEqual([{ address: "192.0.2.1", family: 4 }]);
});

test("a name that is not there is told from one of which name servers know nothing, which is searched all the same", async () => {
  const searching = { resolverFile: join(directory, "resolv.conf") };
  expect(await find("missing.test")).toBe("ENOTFOUND");
  asked.length = 0;
  expect(await find("api.broken.test", searching)).toBe("EAI_AGAIN");
  expect(new Set(asked)).toEqual(
    new Set(["api.broken.test", "api.broken.test.example.test", "api.broken.test.cluster.test"]),
  );
  expect(await find("api.example.test", { servers: ["127.0.0.1:1"] })).toBe("EAI_AGAIN"); // nothing listens there
});

test("a hundred names that no name server answers for keep no other from being found", async () => {
  const { port } = names.address();
  const lookup = createLookup({ servers: [`127.0.0.1:${port}`], hostsFile: "/none", resolverFile: "/none" });
  let given = 0;
  for (let at = 0; at < 100; at++) lookup(`n${at}.dead.test`, {}, () => given++);
  const found = await new Promise((resolve) => lookup("api.example.test", {}, (_, address) => resolve(address)));
  expect(found).toBe("192.0.2.1");
  expect(given).toBe(0);
});

test("a file of hosts is read again after five seconds", async () => {
  const file = join(directory, "changing");
  let now = 0;
  const hosts = followHosts(file, () => now);
  expect(hosts("one.test")).toEqual([]);
  await writeFile(file, "192.0.2.7 one.test\n");
  now = 4_999;
  expect(hosts("one.test")).toEqual([]);
  now = 5_000;
  expect(hosts("one.test")).toEqual(["192.0.2.7"]);
});

/** Does work while all of libuv's threads hang, as they do in the system's resolver while name servers are silent. */
async function withoutThreads(work: () => Promise<void>): Promise<void> {
  const pipe = join(directory, "pipe");
  execFileSync("mkfifo", [pipe]);
  const hanging = Array.from({ length: 64 }, () => open(pipe, "r")); // each waits for a writer
  const end = setTimeout(() => release(), 15_000);
  let writer: number | undefined;
  const release = () => (writer ??= openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK));
  try {
    await work();
    expect(writer, "threads hung until then").toBeUndefined();
  } finally {
    clearTimeout(end);
    release();
    await Promise.all(hanging.map(async (one) => await (await one).close()));
    if (writer !== undefined) closeSync(writer);
  }
}

test("endpoints and API servers are asked by their names while the system's resolver hangs", async () => {
  const { port } = server.address() as AddressInfo;
  const trust = { ca: certificates.ca, server: undefined };
  const prober = createProber({
    ...{ log, moves: () => false, onChange: () => {}, trust: () => trust },
    endpoint: () => endpointOf({ host: "localhost", port }),
  });
  const members = createMemberProber({ log, onChange: () => {} });
  const record = { namespace: "fleet", name: "foo" };
  try {
    await withoutThreads(async () => {
      prober.start();
      members.start();
      prober.ask(record);
      members.follow(record, [{ machine: "a", endpoint: { host: "localhost", port }, trust }]);
      await eventually(() => prober.servingOf(endpointOf({ host: "localhost", port }))?.status === "True", 10_000);
      await eventually(() => members.servingOf(record, "a")?.status === "True", 10_000);
    });
  } finally {
    await Promise.all([prober.stop(), members.stop()]);
  }
});
