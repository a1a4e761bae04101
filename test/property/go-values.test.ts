import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ZodType } from "zod";
import { isNetwork } from "../../src/api/schema/cidr.ts";
import { secondsOf } from "../../src/api/schema/duration.ts";
import { nanosOf } from "../../src/api/schema/quantity.ts";
import { dnsLabel, dnsSubdomain, duration, labelValue, quantityText } from "../../src/api/schema/syntax.ts";
import { certificatesIn } from "../../src/parsing.ts";
import { startGoReaders, type GoReader, type GoReaders } from "../support/go-readers.ts";
import { seconds } from "../support/patience.ts";

let go: GoReaders;

beforeAll(async () => void (go = await startGoReaders()), seconds(120));

afterAll(async () => await go?.close());

/** Whether an API server admits the text by the pattern of its field. */
const admits = (schema: ZodType, text: string): boolean => {
  const { pattern, maxLength } = schema.meta() as { readonly pattern: string; readonly maxLength: number };
  return new RegExp(pattern, "u").test(text) && [...text].length <= maxLength;
};

const written = (...pieces: readonly string[]) =>
  fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => parts.join(""));

const digits = ["0", "1", "5", "9", "00", "10", "999999999"];

const runs = { numRuns: 1_500 } as const;

/** The most that Go takes from a binary suffix: 2^63 - 1. */
const LARGEST = (2n ** 63n - 1n) * 1_000_000_000n;

test("a quantity that is admitted is as much for us as for programs in Go", async () => {
  const suffixes = ["Ki", "Mi", "Gi", "Ei", "k", "M", "E", "m", "u", "n", "e3", "E-3", "e+12", "e1", "e-99"];
  const amount = written(...digits, ".", "+", "-");
  await fc.assert(
    fc.asyncProperty(amount, fc.constantFrom("", "e", "i", ...suffixes), async (text, suffix) => {
      const quantity = `${text}${suffix}`;
      if (!admits(quantityText(), quantity)) return;
      const [ours, theirs] = [nanosOf(quantity), BigInt(String(await go.read("quantity", quantity)))];
      expect({ quantity, is: suffix.endsWith("i") && (ours ?? 0n) > LARGEST ? LARGEST : ours }).toEqual({
        quantity,
        is: theirs,
      });
    }),
    runs,
  );
});

test.each(["1e100", "1E1000", "9e999999999"])(
  "a quantity of %s counts as more than a Quota can hold, and fills no memory",
  (text) => {
    expect(nanosOf(text)).toBeGreaterThan(10n ** 100n);
  },
);

test("a duration that is admitted is as long for us as for programs in Go", async () => {
  const text = written(...digits, "99999", "9999999", ".", "h", "m", "s", "ms", "us", "µs", "μs", "ns", "-");
  await fc.assert(
    fc.asyncProperty(text, async (text) => {
      if (!admits(duration(), text)) return;
      const theirs = await go.read("duration", text);
      expect({ text, theirs }).not.toEqual({ text, theirs: undefined });
      const [ours, seconds] = [secondsOf(text), Number(theirs) / 1e9];
      expect(Math.abs(ours - seconds)).toBeLessThanOrEqual(1e-8 + 1e-9 * seconds);
    }),
    runs,
  );
});

test.each(["99999h".repeat(6), "9999999m".repeat(6), "999999999s".repeat(6), "999999999999ms".repeat(4)])(
  "the longest duration, %s, is one for programs in Go",
  async (text) => {
    expect(admits(duration(), text)).toBe(true);
    expect(Number(await go.read("duration", text))).toBeGreaterThan(0);
  },
);

test("a network that is admitted is one for programs in Go, whichever reader they use", async () => {
  const four = fc.ipV4();
  const address = fc.oneof(
    four,
    fc.ipV6(),
    four.map((ip) => `::ffff:${ip}`),
    written(...digits, ".", ":", "f", "%eth0"),
  );
  const bits = fc.oneof(fc.nat(140).map(String), fc.constantFrom("08", "", "-1", "+8", "8 ", "1/1"));
  await fc.assert(
    fc.asyncProperty(address, bits, async (ip, bits) => {
      const text = `${ip}/${bits}`;
      if (isNetwork(text))
        expect({ text, read: await go.read("network", text) }).not.toEqual({ text, read: undefined });
    }),
    runs,
  );
});

test.each(["::ffff:10.0.0.0/104", "0:0::ffff:a00:0/104", "fe80::1%eth0/64", "10.0.0.0/08", "010.0.0.0/8"])(
  "%s is not a network",
  (text) => {
    expect(isNetwork(text)).toBe(false);
  },
);

test.each<[GoReader, ZodType]>([
  ["label", dnsLabel()],
  ["subdomain", dnsSubdomain()],
  ["labelValue", labelValue()],
])("a %s that is admitted is one for Kubernetes", async (reader, schema) => {
  const text = written("a", "Z", "0", "-", ".", "_", "/", "é", "\n", "a".repeat(31));
  await fc.assert(
    fc.asyncProperty(text, async (text) => {
      if (admits(schema, text)) expect({ text, read: await go.read(reader, text) }).toEqual({ text, read: true });
    }),
    runs,
  );
});

interface Block {
  readonly type: string;
  readonly bytes: string;
}

test("the certificates of a bundle are those that programs in Go find in it, or fewer", async () => {
  const lines = [
    "-----BEGIN CERTIFICATE-----",
    "-----END CERTIFICATE-----",
    "-----BEGIN KEY-----",
    "-----END KEY-----",
  ];
  const text = fc
    .array(fc.constantFrom(...lines, "AAAA", "AAA=", "AA==", "AAAAA", "AA", "====", "Proc-Type: 4", "", " ", "#"), {
      maxLength: 9,
    })
    .chain((parts) => fc.constantFrom("\n", "\r\n", "", " ").map((between) => `${parts.join(between)}\n`));
  await fc.assert(
    fc.asyncProperty(text, async (text) => {
      const theirs = ((await go.read("pem", text)) as Block[]).filter(({ type }) => type === "CERTIFICATE");
      const ours = certificatesIn(text).map((pem) => pem.replaceAll(/-----[^-]+-----|\s/g, ""));
      expect({ text, found: theirs.map(({ bytes }) => bytes) }).toEqual({
        text,
        found: expect.arrayContaining(ours) as unknown,
      });
    }),
    runs,
  );
});
