import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { parseStateKeys } from "../../../src/activities/state/keys.ts";
import { createSeal, type Sealed } from "../../../src/activities/state/seal.ts";

const [older, newer] = ["older", "newer"].map((id) => ({ id, secret: randomBytes(32).toString("base64") }));
const keys = (...entries: unknown[]) => parseStateKeys(JSON.stringify({ keys: entries }));
const place = "gardener/secret/ca of Shoot 1";
const content = { data: { "ca.key": "c2VjcmV0" } };

describe("a seal", () => {
  it("opens to what was sealed, with every key that is there", () => {
    const sealed = createSeal(keys(older)).seal(content, place);
    expect(createSeal(keys(newer, older)).open(sealed, place)).toEqual(content);
  });

  it("shows nothing of the content, and never looks the same twice", () => {
    const seal = createSeal(keys(older));
    const [one, other] = [seal.seal(content, place), seal.seal(content, place)];
    expect(JSON.stringify(one)).not.toContain("c2VjcmV0");
    expect(one.data).not.toBe(other.data);
    expect(one.wrapped).not.toBe(other.wrapped);
  });

  it("does not open in another place", () => {
    const seal = createSeal(keys(older));
    const sealed = seal.seal(content, place);
    expect(() => seal.open(sealed, "gardener/secret/ca of Shoot 2")).toThrow("sealed for another place");
  });

  it.each(["key", "wrapped", "data"] as const)("does not open once its %s was changed", (field) => {
    const seal = createSeal(keys(newer, older));
    const sealed = createSeal(keys(older)).seal(content, place);
    const changed = field === "key" ? "newer" : flipped(sealed[field]);
    expect(() => seal.open({ ...sealed, [field]: changed }, place)).toThrow(`cannot open ${place}`);
  });

  it("names the key that is missing", () => {
    const sealed = createSeal(keys(older)).seal(content, place);
    expect(() => createSeal(keys(newer)).open(sealed, place)).toThrow(
      /key older is not among this worker's \(.+\): add it to the file of PERENNIAL_STATE_KEYS_FILE/,
    );
  });

  it("takes nothing that is not sealed", () => {
    expect(() => createSeal(keys(older)).open(content, place)).toThrow("it is not sealed");
  });

  it("knows what the key that seals now has not sealed", () => {
    const sealed = createSeal(keys(older)).seal(content, place);
    expect(createSeal(keys(older, newer)).isCurrent(sealed)).toBe(true);
    expect(createSeal(keys(newer, older)).isCurrent(sealed)).toBe(false);
    expect(createSeal(keys(newer, older)).isCurrent(content)).toBe(false);
  });

  it("makes large things small", () => {
    const machines = Array.from({ length: 2000 }, (_, index) => ({
      name: `machine-${index}`,
      providerID: `local:///${index}`,
    }));
    const sealed: Sealed = createSeal(keys(older)).seal({ machines }, place);
    expect(sealed.data.length).toBeLessThan(JSON.stringify(machines).length / 4);
  });
});

describe("a file of keys", () => {
  it.each([
    ["nothing", "", "has to be JSON"],
    ["no keys", '{"keys": []}', "has to be JSON"],
    ["no id", '{"keys": [{"secret": "x"}]}', "key 1 has no id"],
    ["a short secret", '{"keys": [{"id": "a", "secret": "c2hvcnQ="}]}', "key a is not 32 bytes"],
    ["an id twice", JSON.stringify({ keys: [older, older] }), "two keys have the id older"],
  ])("with %s is refused", (_, text, reason) => {
    expect(() => parseStateKeys(text, "keys.json")).toThrow(reason);
  });

  it("is never quoted in an error", () => {
    const secret = String(older?.secret).slice(1);
    expect.assertions(2);
    for (const text of [`{"keys": [{"id": "a", "secret": "${secret}"}]}`, `{"keys": "${secret}`]) {
      try {
        parseStateKeys(text);
      } catch (error) {
        expect(String(error)).not.toContain(secret.slice(0, 8));
      }
    }
  });
});

/** The same text with one bit of its 30th byte changed. */
function flipped(base64: string): string {
  const bytes = Buffer.from(base64, "base64");
  bytes.writeUInt8(bytes.readUInt8(30) ^ 1, 30);
  return bytes.toString("base64");
}
