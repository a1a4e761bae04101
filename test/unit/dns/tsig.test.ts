import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { encodeQuestion } from "../../../src/dns/wire/message.ts";
import { encodeName } from "../../../src/dns/wire/name.ts";
import { readSigned, signMessage, type TsigKey } from "../../../src/dns/wire/tsig.ts";
import { writeAnswer } from "../../support/dns-messages.ts";

const key: TsigKey = { name: "ask.leadership.test", algorithm: "hmac-sha256", secret: Buffer.alloc(32, 7) };
const name = "shoot.leadership.test";
const now = 1_800_000_000;
const plain = encodeQuestion(0x1234, { name, type: "TXT", recursive: false });
const { mac: questionMac } = signMessage(plain, key, now);

/** How a server signs its answer (RFC 8945, 4.3 and 5.3), unless told otherwise. */
interface Signing {
  readonly keyName?: string;
  readonly algorithm?: string;
  readonly secret?: Buffer;
  readonly time?: number;
  readonly fudge?: number;
  readonly error?: number;
  readonly other?: Buffer;
  readonly of?: Buffer;
  /** In bytes of the signature that are left. */
  readonly length?: number;
}

function answer(signing: Signing = {}): Buffer {
  const { keyName = key.name, algorithm = key.algorithm, secret = key.secret, of = questionMac } = signing;
  const { time = now, fudge = 300, error = 0, other = Buffer.alloc(0), length = 32 } = signing;
  const unsigned = writeAnswer(plain, { answers: [{ name, type: "TXT", ttl: 0, value: "Seed=a" }] });
  const times = Buffer.concat([uint(time, 6), uint(fudge, 2)]);
  const tail = Buffer.concat([uint(error, 2), uint(other.length, 2), other]);
  const names = [encodeName(keyName), uint(255, 2), uint(0, 4), encodeName(algorithm)];
  const mac = createHmac("sha256", secret)
    .update(Buffer.concat([uint(of.length, 2), of, unsigned, ...names, times, tail]))
    .digest()
    .subarray(0, length);
  const data = Buffer.concat([encodeName(algorithm), times, uint(mac.length, 2), mac, unsigned.subarray(0, 2), tail]);
  const head = Buffer.concat([encodeName(keyName), uint(250, 2), uint(255, 2), uint(0, 4), uint(data.length, 2)]);
  const signed = Buffer.concat([unsigned, head, data]);
  signed.writeUInt16BE(1, 10);
  return signed;
}

const read = (message: Buffer, at = now) => readSigned(message, key, questionMac, at).answers.map(({ value }) => value);

describe("a signed answer is believed", () => {
  test("when the server that knows the key has signed it for this question", () => {
    expect(read(answer())).toEqual(["Seed=a"]);
  });

  test("when a forwarder has given it another id", () => {
    const forwarded = answer();
    forwarded.writeUInt16BE(0x4321, 0);
    expect(read(forwarded)).toEqual(["Seed=a"]);
  });

  test.each([-300, 300])("while the clocks are %i s apart", (apart) => {
    expect(read(answer({ time: now + apart }))).toEqual(["Seed=a"]);
  });
});

test.each<[string, Signing, string]>([
  ["has another secret", { secret: Buffer.alloc(32, 8) }, "signature is wrong"],
  ["has another key's name", { keyName: "other.leadership.test" }, "signed with another key"],
  ["has another algorithm", { algorithm: "hmac-sha512" }, "signed with another key"],
  ["is to another question", { of: Buffer.alloc(32) }, "signature is wrong"],
  ["has a part of a signature", { length: 16 }, "signature is wrong"],
  ["has no signature", { length: 0 }, "signature is wrong"],
  ["is older than the clocks may be apart", { time: now - 301 }, "the clocks are more than 300 s apart"],
  ["is of a later time", { time: now + 301 }, "the clocks are more than 300 s apart"],
  ["allows no difference of clocks, and has one", { time: now - 1, fudge: 0 }, "the clocks are more than 300 s apart"],
  ["reports an error", { error: 18, other: Buffer.alloc(6) }, "BADTIME"],
])("an answer that %s is not believed", (_, signing, why) => {
  expect(() => read(answer(signing))).toThrow(why);
});

test("an answer whose signature states more than it holds is not believed", () => {
  const bytes = answer();
  bytes.writeUInt16BE(6, bytes.length - 2);
  expect(() => read(bytes)).toThrow("the signature is cut off");
});

test("an answer that was signed and then changed is not believed", () => {
  const bytes = answer();
  const signature = bytes.indexOf(encodeName(key.name));
  for (let at = 2; at < signature; at += 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    expect(() => read(changed), `byte ${at}`).toThrow();
  }
});

test("an answer without a signature is not believed, nor one with a record behind it", () => {
  const bytes = answer();
  const unsigned = Buffer.from(bytes.subarray(0, bytes.indexOf(encodeName(key.name))));
  unsigned.writeUInt16BE(0, 10);
  expect(() => read(unsigned)).toThrow("the answer is not signed");
  const followed = Buffer.concat([bytes, encodeName(name), uint(16, 2), uint(1, 2), uint(0, 4), uint(0, 2)]);
  followed.writeUInt16BE(2, 10);
  expect(() => read(followed)).toThrow("the answer is not signed");
});

function uint(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
}
