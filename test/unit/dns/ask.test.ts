import { describe, expect, test } from "vitest";
import { createAsk } from "../../../src/dns/index.ts";
import type { Transport, Transports } from "../../../src/dns/transport.ts";
import type { Question } from "../../../src/dns/wire/message.ts";
import { writeAnswer, type AnsweredRecord, type WrittenAnswer } from "../../support/dns-messages.ts";

const name = "shoot.leadership.test";
const question: Question = { name, type: "TXT", recursive: false };
const answer: AnsweredRecord = { name, type: "TXT", ttl: 0, value: "Seed=a" };
const answers = [answer];

/** A server that answers so, on both ways; `change` edits the packet of the first. */
function answering(change: (packet: Buffer) => void, written: WrittenAnswer = { answers }, tcp = written): Transports {
  const send =
    (what: WrittenAnswer, edit: (packet: Buffer) => void): Transport =>
    async (_, message, read) => {
      const packet = writeAnswer(message, what);
      edit(packet);
      return read(packet);
    };
  return { udp: send(written, change), tcp: send(tcp, () => undefined) };
}

const ask = async (transports: Transports, asked = question) => {
  const { records } = await createAsk({ transports })("one", asked);
  return records.map(({ value }) => value);
};

const unchanged = (): void => undefined;
const truncate = (packet: Buffer): void => void packet.writeUInt16BE(packet.readUInt16BE(2) | 0x0200, 2);
const endOfName = 12 + name.length + 2;

describe("an answer is believed", () => {
  test("when it is the answer to the question, from the server's own data", async () => {
    expect(await ask(answering(unchanged))).toEqual(["Seed=a"]);
  });

  test("when it names what was asked for in other letters", async () => {
    expect(await ask(answering(unchanged), { ...question, name: `${name.toUpperCase()}.` })).toEqual(["Seed=a"]);
  });

  test("when it is a resolver's, from its cache", async () => {
    const cached = { answers, authoritative: false };
    expect(await ask(answering(unchanged, cached), { ...question, recursive: true })).toEqual(["Seed=a"]);
  });

  test("over a connection when it does not fit into a packet", async () => {
    const whole = { answers: [...answers, { ...answer, value: "Epoch=1" }] };
    expect(await ask(answering(truncate, { answers }, whole))).toEqual(["Seed=a", "Epoch=1"]);
  });
});

test.each<[string, (packet: Buffer) => void, string]>([
  ["has another id", (packet) => packet.writeUInt16BE(packet.readUInt16BE(0) ^ 1, 0), "is to another question"],
  ["is to a question about another name", (packet) => packet.write("x", 13), "is to another question"],
  ["is to a question about another type", (packet) => packet.writeUInt16BE(1, endOfName), "is to another question"],
  ["is to a question of another class", (packet) => packet.writeUInt16BE(3, endOfName + 2), "is not of class IN"],
  ["is a question", (packet) => packet.writeUInt16BE(packet.readUInt16BE(2) & 0x7fff, 2), "is no response"],
  ["is to an update", (packet) => packet.writeUInt16BE(packet.readUInt16BE(2) | 0x2800, 2), "answers no query"],
  ["is to two questions", (packet) => packet.writeUInt16BE(2, 4), "not exactly one question"],
  ["is not from the server's own data", (packet) => packet.writeUInt16BE(0x8000, 2), "no AA"],
  ["is a refusal", (packet) => packet.writeUInt16BE(0x8405, 2), "it answers REFUSED"],
  ["is a failure", (packet) => packet.writeUInt16BE(0x8402, 2), "it answers SERVFAIL"],
  ["has a code without a name", (packet) => packet.writeUInt16BE(0x8406, 2), "it answers code 6"],
])("an answer that %s is not believed", async (_, change, why) => {
  await expect(ask(answering(change))).rejects.toThrow(why);
});

test("a record of another class in an answer has no value", async () => {
  const endOfQuestion = endOfName + 4;
  const chaos = (packet: Buffer) => void packet.writeUInt16BE(3, endOfQuestion + name.length + 2 + 2);
  expect(await ask(answering(chaos))).toEqual([undefined]);
});

test("an answer that is cut off over a connection, too, is not believed", async () => {
  const { udp } = answering(truncate);
  await expect(ask({ udp, tcp: udp })).rejects.toThrow("its answer is cut off");
});

test("an answer that says there is no such name has no records, whatever stands in it", async () => {
  expect(await ask(answering(unchanged, { answers, code: 3 }))).toEqual([]);
});

test.each<[string, Partial<AnsweredRecord>]>([
  ["type", { type: "A", value: "10.0.0.1" }],
  ["name", { name: `other.${name}` }],
])("a record of another %s in an answer does not count", async (_, other) => {
  expect(await ask(answering(unchanged, { answers: [{ ...answer, ...other }] }))).toEqual([]);
});
