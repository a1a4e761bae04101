import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createTaskTokens } from "../../../src/gateway/task-tokens.ts";
import { parseKeyFile, type Key } from "../../../src/key-file.ts";

const keys = parseKeyFile(
  JSON.stringify({ keys: ["new", "old"].map((id) => ({ id, secret: randomBytes(32).toString("base64") })) }),
  "test",
);
const [newer, older] = keys as readonly [Key, Key];
const token = Buffer.from("a task of Temporal");

describe("a sealed task token", () => {
  it("opens for the seed that got it, and for no other", () => {
    const tokens = createTaskTokens(keys);
    const sealed = tokens.seal(token, "perennial:seed:seed-1");
    expect(tokens.open(sealed, "perennial:seed:seed-1")).toEqual(token);
    for (const other of ["perennial:seed:seed-2", "perennial:seed:seed-", "perennial:seed:seed-11", ""])
      expect(tokens.open(sealed, other)).toBeUndefined();
  });

  it("opens for no holder and token that make up the same bytes", () => {
    const tokens = createTaskTokens(keys);
    const sealed = Buffer.from(tokens.seal(Buffer.from("-2/token"), "perennial:seed:seed-1"));
    const header = sealed.subarray(0, sealed.length - "-2/token".length);
    const moved = Buffer.concat([header, Buffer.from("/token")]);
    expect(tokens.open(moved, "perennial:seed:seed-1-2")).toBeUndefined();
    expect(tokens.open(Buffer.concat([header, Buffer.from("1-2/token")]), "perennial:seed:seed-")).toBeUndefined();
  });

  it("does not open when any bit of it was changed, nor when it was not sealed at all", () => {
    const tokens = createTaskTokens(keys);
    const sealed = tokens.seal(token, "perennial:seed:seed-1");
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Uint8Array.from(sealed, (byte, at) => (at === index ? byte ^ 1 : byte));
      expect(tokens.open(changed, "perennial:seed:seed-1")).toBeUndefined();
    }
    expect(tokens.open(token, "perennial:seed:seed-1")).toBeUndefined();
    expect(tokens.open(new Uint8Array(), "perennial:seed:seed-1")).toBeUndefined();
  });

  it("opens for a gateway that has got a newer key since, and not for one with other keys", () => {
    const sealed = createTaskTokens([older]).seal(token, "perennial:seed:seed-1");
    expect(createTaskTokens([newer, older]).open(sealed, "perennial:seed:seed-1")).toEqual(token);
    expect(createTaskTokens([newer]).open(sealed, "perennial:seed:seed-1")).toBeUndefined();
  });
});
