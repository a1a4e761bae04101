import type { Transport, Transports } from "../../src/dns/transport.ts";
import { recordTypes } from "../../src/dns/wire/message.ts";
import { encodeName, readName } from "../../src/dns/wire/name.ts";

/** A question as a server reads it. */
export interface AskedQuestion {
  readonly name: string;
  readonly type: string;
  readonly recursive: boolean;
}

/** One record that a server answers with. */
export interface AnsweredRecord {
  readonly name: string;
  readonly type: "A" | "NS" | "TXT" | "SOA";
  readonly ttl: number;
  readonly value: string;
}

/** What a server answers; from its own data unless it says otherwise. */
export interface WrittenAnswer {
  readonly authoritative?: boolean;
  readonly code?: number;
  readonly answers?: readonly AnsweredRecord[];
  readonly authority?: readonly AnsweredRecord[];
}

/** Servers that are functions, and speak to the code under test in messages; what answers nothing is silent. */
export function transportsTo(
  answer: (server: string, question: AskedQuestion) => Promise<WrittenAnswer | undefined>,
): Transports {
  const send: Transport = async (server, message, read) => {
    const written = await answer(server, readQuestion(message));
    if (written === undefined) throw new Error("it does not answer");
    return read(writeAnswer(message, written));
  };
  return { udp: send, tcp: send };
}

/** Reads a question as a server does. */
export function readQuestion(message: Buffer): AskedQuestion {
  const { name, end } = readName(message, 12);
  const number = message.readUInt16BE(end);
  const [type = String(number)] = Object.entries(recordTypes).find(([, value]) => value === number) ?? [];
  return { name, type, recursive: (message.readUInt16BE(2) & 0x0100) !== 0 };
}

/** Writes the answer to a question. */
export function writeAnswer(question: Buffer, written: WrittenAnswer): Buffer {
  const { authoritative = true, code = 0, answers = [], authority = [] } = written;
  const end = readName(question, 12).end + 4;
  const head = Buffer.from(question.subarray(0, end));
  head.writeUInt16BE(0x8000 | (authoritative ? 0x0400 : 0) | code, 2);
  head.writeUInt16BE(answers.length, 6);
  head.writeUInt16BE(authority.length, 8);
  head.writeUInt16BE(0, 10);
  return Buffer.concat([head, ...[...answers, ...authority].map(writeRecord)]);
}

function writeRecord({ name, type, ttl, value }: AnsweredRecord): Buffer {
  const data = writeData(type, value);
  const fields = Buffer.alloc(10);
  fields.writeUInt16BE(recordTypes[type], 0);
  fields.writeUInt16BE(1, 2);
  fields.writeUInt32BE(ttl, 4);
  fields.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(name), fields, data]);
}

function writeData(type: AnsweredRecord["type"], value: string): Buffer {
  if (type === "A") return Buffer.from(value.split(".").map(Number));
  if (type === "NS") return encodeName(value);
  if (type === "SOA") return Buffer.concat([encodeName(value), encodeName(value), Buffer.alloc(20)]);
  const text = Buffer.from(value);
  return Buffer.concat([Buffer.from([text.length]), text]);
}
