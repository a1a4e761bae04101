import { describe, expect, test } from "vitest";
import { partsOf, renderUpdate, updateRecords, type NameServer } from "../../../src/provider-local/dns/name-server.ts";

const key = { name: "update", secret: "czNjcmV0LWtleQ==", algorithm: "hmac-sha256" };
const server: NameServer = { address: "127.0.0.1", port: 9, key };
const record = { name: "api.example.org", type: "A", values: ["10.0.0.1"], ttl: 5 } as const;
const withKey = (change: Partial<typeof key>): NameServer => ({ ...server, key: { ...key, ...change } });

describe("what users write of a server", () => {
  test.each([
    ["a command behind the server", { ...server, address: "10.0.0.1\nserver 10.0.0.2" }, /Server is not an IP address/],
    ["a second word in the server", { ...server, address: "10.0.0.1 5353" }, /Server is not an IP address/],
    ["a name as the server", { ...server, address: "localhost" }, /Server is not an IP address/],
    ["a port that is none", { ...server, port: 99_999 }, /the port of Server/],
    ["a command behind the key's name", withKey({ name: "a b\nupdate add x.org 5 A 10.0.0.9" }), /TSIGKeyName/],
    ["a command behind the secret", withKey({ secret: `${key.secret}\nserver 10.0.0.2` }), /TSIGSecret is not base64/],
    ["a command in the algorithm", withKey({ algorithm: "hmac-sha256:x y\nzone org.\nkey a" }), /TSIGSecretAlgorithm/],
  ])("does not reach nsupdate with %s", (_, hostile, message) => {
    expect(() => renderUpdate(hostile, "example.org", record)).toThrow(message);
  });

  test("is no secret that nsupdate would quote", async () => {
    const failed = updateRecords(withKey({ secret: "S3CRET!" }), undefined, record);
    await expect(failed).rejects.toThrow(/^(?!.*S3CRET)/);
  });
});

test.each([
  ["10.0.0.53", { address: "10.0.0.53" }],
  ["10.0.0.53:5353", { address: "10.0.0.53", port: 5353 }],
  ["fd00::53", { address: "fd00::53" }],
  ["[fd00::53]:5353", { address: "fd00::53", port: 5353 }],
] as const satisfies readonly (readonly [string, Pick<NameServer, "address" | "port">])[])(
  "a server at %s is %o",
  (text, parts: Pick<NameServer, "address" | "port">) => {
    expect(partsOf(text)).toEqual(parts);
    expect(renderUpdate({ ...parts, key }, undefined, record)).toContain(
      `server ${parts.address} ${parts.port ?? 53}\n`,
    );
  },
);
