import { createHmac } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { createLeaderLookup, createZoneServers, formatLeader, type Leader } from "../../src/dns/index.ts";
import type { Transport } from "../../src/dns/transport.ts";
import { decodeResponse, LONGEST_MESSAGE } from "../../src/dns/wire/message.ts";
import { encodeName, readName } from "../../src/dns/wire/name.ts";
import { readQuestion, writeAnswer } from "./dns-messages.ts";
import { answerFrom } from "./zone-model.ts";

/** What came of so many answers. */
export interface Fuzzed {
  readonly answers: number;
  /** Answers that were refused, and those that were taken and named the true leader. */
  readonly refused: number;
  readonly taken: number;
  /** How long each message took to be read, in ms. */
  readonly times: readonly number[];
  /** The first change that made the look-up go wrong, if one did: as fast-check shows it, made as small as can be. */
  readonly failure?: { readonly input: string; readonly outcome: string };
}

const record = "shoot.leadership.test";
const leader: Leader = { seed: "seed-1", epoch: 12 };
const secret = Buffer.from("a key that the forger lacks");

/**
 * Answers so many signed questions with messages that were changed on their way, or made up. It is a failure when one
 * names another leader, or none without an error, or when its reader comes to grief.
 */
export async function fuzzDns(count: number, seed?: number): Promise<Fuzzed> {
  const folder = await mkdtemp(join(tmpdir(), "perennial-fuzz-"));
  const keyFile = join(folder, "key");
  const line = `key "ask" { algorithm hmac-sha256; secret "${secret.toString("base64")}"; };\n`;
  await writeFile(keyFile, line);
  const counts = { answers: 0, refused: 0, taken: 0 };
  const times: number[] = [];
  let change: (answer: Buffer) => Buffer = (answer) => answer;
  const send: Transport = async (_server, message, read) => {
    const answer = change(signedAnswer(message));
    const begin = process.threadCpuUsage();
    try {
      return read(answer);
    } finally {
      const { user, system } = process.threadCpuUsage(begin);
      times.push((user + system) / 1_000);
    }
  };
  const lookup = createLeaderLookup(
    createZoneServers({ servers: ["one"], keyFile }, { transports: { udp: send, tcp: send } }),
  );
  const property = fc.asyncProperty(changes(), async (changed) => {
    change = changed;
    counts.answers++;
    const said = await lookup.ask(record).catch((error: unknown) => {
      if (error instanceof Error && error.message.startsWith("cannot ask who leads")) return "refused" as const;
      throw error;
    });
    if (said === "refused") counts.refused++;
    else if (said?.seed === leader.seed && said.epoch === leader.epoch) counts.taken++;
    else throw new Error(`a changed answer named ${JSON.stringify(said)}`);
    readFreely(changed(signedAnswer(question)));
  });
  const run = await fc.check(property, { numRuns: count, ...(seed === undefined ? {} : { seed }) });
  await rm(folder, { recursive: true });
  if (!run.failed) return { ...counts, times };
  const failure = { input: JSON.stringify(run.counterexamplePath), outcome: String(run.errorInstance) };
  return { ...counts, times, failure };
}

/** Read without a signature, a message is an error or a response, and takes memory in proportion to its length. */
function readFreely(message: Buffer): void {
  let response;
  try {
    response = decodeResponse(message);
  } catch (error) {
    if (error instanceof Error) return;
    throw error;
  }
  const records = [...response.answers, ...response.authority, ...response.additional];
  if (records.length > LONGEST_MESSAGE / 11) throw new Error(`${records.length} records in one message`);
  for (const { name, value = "" } of records) {
    if (name.length > 4 * 255 || value.length > LONGEST_MESSAGE) throw new Error("a value longer than its message");
  }
}

/** Bytes that are changed, cut off, doubled or made up; and pointers, which names are compressed with. */
function changes(): fc.Arbitrary<(answer: Buffer) => Buffer> {
  const at = fc.nat(400);
  const set = fc.tuple(at, fc.nat(255)).map(([at, byte]) => (answer: Buffer) => {
    const changed = Buffer.from(answer);
    changed[at % changed.length] = byte;
    return changed;
  });
  const point = fc.tuple(at, fc.nat(400)).map(([at, target]) => (answer: Buffer) => {
    const changed = Buffer.from(answer);
    changed.writeUInt16BE(0xc000 | target, at % (changed.length - 1));
    return changed;
  });
  const cut = at.map((at) => (answer: Buffer) => answer.subarray(0, at % answer.length));
  const doubled = fc.tuple(at, at).map(([from, to]) => (answer: Buffer) => {
    return Buffer.concat([answer.subarray(0, from), answer.subarray(Math.min(from, to))]);
  });
  const counts = fc.tuple(fc.constantFrom(4, 6, 8, 10), fc.nat(0xffff)).map(([at, number]) => (answer: Buffer) => {
    const changed = Buffer.from(answer);
    changed.writeUInt16BE(number, at);
    return changed;
  });
  const invented = fc.uint8Array({ maxLength: 600 }).map((bytes) => () => Buffer.from(bytes));
  const body = fc.uint8Array({ maxLength: 600 }).map((bytes) => (answer: Buffer) => {
    return Buffer.concat([answer.subarray(0, 12), Buffer.from(bytes)]);
  });
  const one = fc.oneof(set, point, cut, doubled, counts, invented, body);
  return fc.array(one, { maxLength: 3 }).map((list) => (answer: Buffer) => {
    return list.reduce((changed, next) => (changed.length < 14 ? changed : next(changed)), answer);
  });
}

const question = Buffer.concat([
  Buffer.from([0, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
  encodeName(record),
  Buffer.from([0, 16, 0, 1]),
]);

/** The true answer, signed as a server does (RFC 8945, 5.3); to a question that is not signed, without. */
function signedAnswer(asked: Buffer): Buffer {
  const zone = { zone: "leadership.test", hosts: ["ns"], texts: formatLeader(leader) };
  const answer = writeAnswer(asked, answerFrom([zone], readQuestion(asked)));
  if (asked.readUInt16BE(10) === 0) return answer;
  const data = readName(asked, readName(asked, 12).end + 4).end + 10;
  const algorithm = readName(asked, data).end;
  const mac = asked.subarray(algorithm + 8, algorithm + 10 + asked.readUInt16BE(algorithm + 8));
  const times = asked.subarray(algorithm, algorithm + 8);
  const [name, hmac] = [encodeName("ask"), encodeName("hmac-sha256")];
  const variables = Buffer.concat([name, Buffer.from([0, 255, 0, 0, 0, 0]), hmac, times, Buffer.alloc(4)]);
  const signature = createHmac("sha256", secret)
    .update(Buffer.concat([mac, answer, variables]))
    .digest();
  const size = Buffer.from([0, signature.length]);
  const rdata = Buffer.concat([hmac, times, size, signature, asked.subarray(0, 2), Buffer.alloc(4)]);
  const head = Buffer.from([0, 250, 0, 255, 0, 0, 0, 0, 0, rdata.length]);
  const signed = Buffer.concat([answer, name, head, rdata]);
  signed.writeUInt16BE(1, 10);
  return signed;
}
