import { randomBytes } from "node:crypto";
import { defaultPayloadConverter } from "@temporalio/common";
import { describe, expect, it } from "vitest";
import { createCodec, isEncrypted } from "../../../src/client/payloads/codec.ts";
import { decodeHistory } from "../../../src/client/payloads/history.ts";
import { parseKeyFile, type Key } from "../../../src/key-file.ts";

const keysOf = (...ids: readonly string[]): readonly Key[] => ids.flatMap((id) => all.filter((key) => key.id === id));
const all = parseKeyFile(
  JSON.stringify({ keys: ["old", "new"].map((id) => ({ id, secret: randomBytes(32).toString("base64") })) }),
  "test",
);
const secret = defaultPayloadConverter.toPayload({ shoot: "garden-dev/local" });

describe("the payload codec", () => {
  it("leaves nothing of a payload readable, and brings it back whole", async () => {
    const codec = createCodec(keysOf("new"));
    const [encrypted] = await codec.encode([secret]);
    expect(Buffer.from(encrypted?.data ?? []).toString("latin1")).not.toContain("garden-dev");
    expect(Object.keys(encrypted?.metadata ?? {})).toEqual(["encoding", "encryption-key-id"]);
    const [plain] = await codec.decode(encrypted ? [encrypted] : []);
    expect(plain && defaultPayloadConverter.fromPayload(plain)).toEqual({ shoot: "garden-dev/local" });
  });

  it("encrypts the same twice differently", async () => {
    const [first, second] = await createCodec(keysOf("new")).encode([secret, secret]);
    expect(first?.data).not.toEqual(second?.data);
  });

  it("encrypts with the first key, and decrypts with every one", async () => {
    const before = await createCodec(keysOf("old")).encode([secret]);
    const rotated = createCodec(keysOf("new", "old"));
    expect(await rotated.decode(before)).toHaveLength(1);
    const after = await rotated.encode([secret]);
    await expect(createCodec(keysOf("old")).decode(after)).rejects.toThrow('there is no key "new"');
  });

  it("does not take what was changed, cut short, or moved to another key's name", async () => {
    const codec = createCodec(keysOf("new", "old"));
    const [{ data, metadata } = {}] = await codec.encode([secret]);
    const bytes = Buffer.from(data ?? []);
    const flipped = Buffer.from(bytes.map((byte, index) => (index === 20 ? byte ^ 1 : byte)));
    const renamed = { ...metadata, "encryption-key-id": Buffer.from("old") };
    for (const forged of [
      { data: flipped, metadata },
      { data: bytes.subarray(0, -1), metadata },
      { data: bytes.subarray(0, 20), metadata },
      { data: bytes, metadata: renamed },
    ])
      await expect(codec.decode([forged as never])).rejects.toThrow("it was changed, or encrypted by another key");
  });

  it("reads what was written in the clear before there was a key", async () => {
    expect(await createCodec(keysOf("new")).decode([secret])).toEqual([secret]);
    expect(isEncrypted(secret)).toBe(false);
  });
});

describe("an encrypted history", () => {
  const json = async () => {
    const [{ data, metadata = {} } = {}] = await createCodec(keysOf("new")).encode([secret]);
    const texts = Object.entries(metadata ?? {}).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
    const payload = { metadata: Object.fromEntries(texts) as object, data: Buffer.from(data ?? []).toString("base64") };
    return { events: [{ eventId: "1", attributes: { input: { payloads: [payload] }, name: "kept" } }] };
  };

  it("is in the clear after it was decoded, and nothing else of it has changed", async () => {
    const decoded = await decodeHistory(await json(), { payloadCodecs: [createCodec(keysOf("new"))] });
    const [event] = decoded.events;
    const [payload] = event?.attributes.input.payloads ?? [];
    expect(Buffer.from(payload?.data ?? "", "base64").toString()).toBe('{"shoot":"garden-dev/local"}');
    expect(event).toMatchObject({ eventId: "1", attributes: { name: "kept" } });
  });

  it("cannot be read without its keys, and the error says which variable names them", async () => {
    await expect(decodeHistory(await json(), {})).rejects.toThrow("PERENNIAL_PAYLOAD_KEYS_FILE");
  });
});
