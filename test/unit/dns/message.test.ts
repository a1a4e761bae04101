import { describe, expect, test } from "vitest";
import { decodeResponse, encodeQuestion, LONGEST_MESSAGE } from "../../../src/dns/wire/message.ts";
import { encodeName, readName } from "../../../src/dns/wire/name.ts";
import { writeAnswer } from "../../support/dns-messages.ts";

const question = encodeQuestion(7, { name: "a.example.org", type: "TXT", recursive: false });

describe("a name", () => {
  test("is read as it was written, in lower case", () => {
    expect(readName(encodeName("Shoot.Example.ORG."), 0)).toEqual({ name: "shoot.example.org", end: 19 });
    expect(readName(encodeName(""), 0)).toEqual({ name: "", end: 1 });
  });

  test("may end with a pointer to an earlier one", () => {
    const message = Buffer.concat([encodeName("example.org"), Buffer.from([1, 0x61, 0xc0, 0])]);
    expect(readName(message, 13)).toEqual({ name: "a.example.org", end: 17 });
  });

  test.each([
    ["to itself", [0xc0, 0]],
    ["onward", [0xc0, 4, 0, 0, 1, 0x61, 0]],
    ["to one that points back to it", [0xc0, 2, 0xc0, 0]],
  ])("does not end with a pointer %s", (_where, bytes) => {
    expect(() => readName(Buffer.from(bytes), 0)).toThrow("does not point back");
  });

  test("is at most 255 bytes long, however it is put together", () => {
    const long = encodeName(Array.from({ length: 4 }, () => "x".repeat(60)).join("."));
    const message = Buffer.concat([long, Buffer.from([20]), Buffer.alloc(20, 0x61), Buffer.from([0xc0, 0])]);
    expect(() => readName(message, long.length)).toThrow("too long");
    expect(() => encodeName(`${"x".repeat(60)}.`.repeat(5))).toThrow("too long");
  });

  test.each(["a..b", `${"x".repeat(64)}.org`, "a b", "a\\b", "ä.org"])("%s is none", (name) => {
    expect(() => encodeName(name)).toThrow("is no DNS name");
  });

  test("keeps a dot inside of a label apart from one between two", () => {
    expect(readName(Buffer.from([3, 0x61, 0x2e, 0x62, 0]), 0).name).toBe("a\\046b");
  });
});

describe("a response", () => {
  const answers = [{ name: "a.example.org", type: "TXT", ttl: 0, value: "Seed=a" }] as const;

  test("is read with what it answers, and where each record is", () => {
    const response = decodeResponse(writeAnswer(question, { answers }));
    expect(response).toMatchObject({ id: 7, authoritative: true, truncated: false, code: 0 });
    expect(response.question).toEqual({ name: "a.example.org", type: 16 });
    expect(response.answers).toMatchObject([{ name: "a.example.org", type: 16, ttl: 0, value: "Seed=a" }]);
  });

  test("is not read when it goes on after its end, or ends before", () => {
    const message = writeAnswer(question, { answers });
    expect(() => decodeResponse(Buffer.concat([message, Buffer.from([0])]))).toThrow("goes on after its end");
    for (let length = 0; length < message.length; length++)
      expect(() => decodeResponse(message.subarray(0, length)), `${length} bytes`).toThrow();
  });

  test("is not read when it is a question, or longer than any answer", () => {
    expect(() => decodeResponse(question)).toThrow("is no response");
    expect(() => decodeResponse(Buffer.alloc(LONGEST_MESSAGE + 1))).toThrow("too long");
  });

  test("takes memory in proportion to its length, also when every record points to the longest name", () => {
    const longest = Array.from({ length: 4 }, () => "x".repeat(62)).join(".");
    const head = writeAnswer(encodeQuestion(7, { name: longest, type: "TXT", recursive: false }), {});
    const pointers = Math.floor((LONGEST_MESSAGE - head.length) / 12);
    const one = Buffer.from([0xc0, 12, 0, 99, 0, 1, 0, 0, 0, 0, 0, 0]);
    head.writeUInt16BE(pointers, 6);
    const message = Buffer.concat([head, ...Array.from({ length: pointers }, () => one)]);
    const { answers } = decodeResponse(message);
    expect(answers).toHaveLength(pointers);
    expect(JSON.stringify(answers).length).toBeLessThan(30 * message.length);
  });
});
