import { isIP } from "node:net";
import { execa } from "execa";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCertificateRequest } from "../../src/kube/index.ts";
import {
  alternativeNames,
  craftRequest,
  extensionRequest,
  part,
  pemOf,
  subjectOf,
  type AlternativeName,
} from "../support/crafted-request.ts";
import { derEdits, editDer } from "../support/der-edits.ts";
import { buildGoProgram, startLineProgram, type LineProgram } from "../support/go-program.ts";
import { hostileNames, hostileRequests } from "../support/hostile-requests.ts";

/** What Go reads in a request. */
interface GoReading {
  readonly error?: string;
  /** The bytes that it was read from, and so its key, in base64. */
  readonly der: string;
  readonly isECDSA: boolean;
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** The number of all names of its subject. */
  readonly names: number;
  readonly dnsNames: readonly string[];
  readonly addresses: readonly string[];
  /** The number of alternative names of other types. */
  readonly others: number;
}

let program: string;
let go: LineProgram;

beforeAll(async () => {
  program = await buildGoProgram("certificate-requests");
  go = startLineProgram(program);
});
afterAll(() => go.stop());

const readByGo = async (text: Buffer): Promise<GoReading> => (await go.ask(text.toString("base64"))) as GoReading;
const read = (text: Buffer) => readCertificateRequest(text.toString("base64"));

/** Texts of subjects, most of which a request may have. */
const word = fc.oneof(
  { weight: 4, arbitrary: fc.string({ minLength: 1, maxLength: 20 }) },
  { weight: 4, arbitrary: fc.constantFrom("system:nodes", "system:node:w", "system:masters", "a,b", "CN=a", "x+O=y") },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
);
/** UTF8String and PrintableString most of the time; else any other type of string, or of anything. */
const tag = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(0x0c, 0x13) },
  { weight: 1, arbitrary: fc.constantFrom(0x12, 0x14, 0x16, 0x1c, 0x1e, 0x04) },
);
const namePart = fc.tuple(fc.constantFrom("O" as const, "O" as const, "CN" as const, "OU" as const), word, tag);
const subject = fc.oneof(
  fc.tuple(word, fc.array(word, { maxLength: 2 })).map(([name, groups]) => subjectOf(name, groups)),
  fc.array(
    fc.array(
      namePart.map((parts) => part(...parts)),
      { minLength: 1, maxLength: 2 },
    ),
    { maxLength: 4 },
  ),
);

const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((each) => Buffer.from(each));
const sparse = fc
  .array(fc.constantFrom(0, 0, 0, 1, 0xff), { minLength: 16, maxLength: 16 })
  .map((each) => Buffer.from(each));
const alternativeName: fc.Arbitrary<AlternativeName> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(fc.constant(0x82), fc.domain()) },
  { weight: 1, arbitrary: fc.tuple(fc.constant(0x82), fc.oneof(fc.ipV4(), fc.string({ maxLength: 10 }))) },
  { weight: 3, arbitrary: fc.tuple(fc.constant(0x87), fc.oneof(bytes(4), bytes(16), sparse)) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(0x81, 0x86, 0x87, 0x88), fc.string({ maxLength: 10 })) },
);
const attributes = fc.oneof(
  fc.constant([]),
  fc.array(alternativeName, { maxLength: 4 }).map((names) => [extensionRequest(alternativeNames(...names))]),
);

const person = { commonName: "system:node:w", organizations: ["system:nodes"] };
const hostile = [
  ...Object.values(hostileRequests({ own: person, foreign: { ...person, commonName: "system:node:a" } })),
  ...Object.values(hostileNames({ own: person }, "10.0.0.7")),
];
const whole = fc.oneof(
  { weight: 4, arbitrary: fc.record({ subject, attributes }).map(craftRequest) },
  { weight: 1, arbitrary: fc.constantFrom(...hostile) },
);
const derEdit = fc.record({ kind: fc.constantFrom(...derEdits), at: fc.nat(), byte: fc.nat(255) });
const der = fc
  .tuple(whole, fc.oneof(fc.constant([]), fc.array(derEdit, { minLength: 1, maxLength: 3 })))
  .map(([request, edits]) => edits.reduce(editDer, request));

/** What is put into a text: what PEM is made of, or another request. */
const piece = fc.oneof(
  fc.constantFrom("\n", "\r\n", " ", "\t", "=", "x", "\0", "\u00ff", "-----", "a: b\n", "\n\n"),
  fc.constantFrom("-----BEGIN CERTIFICATE REQUEST-----\n", "-----END CERTIFICATE REQUEST-----\n", "-----END X-----\n"),
  fc.constantFrom(...hostile.map((request) => pemOf(request))),
);
const textEdit = fc.record({ at: fc.oneof(fc.constantFrom(0, 1), fc.nat()), cut: fc.nat(3), piece });
const text = fc
  .tuple(
    der,
    fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(textEdit, { maxLength: 2 }) }),
  )
  .map(([request, edits]) =>
    Buffer.from(
      edits.reduce((pem, { at, cut, piece: put }) => {
        const place = at % (pem.length + 1);
        return pem.slice(0, place) + put + pem.slice(place + cut);
      }, pemOf(request)),
      "latin1",
    ),
  );

test("Go reads in a request what the reader does, or the reader refuses it", async () => {
  const tally = { both: 0, onlyGo: 0, neither: 0 };
  await fc.assert(
    fc.asyncProperty(text, async (given) => {
      const [own, byGo] = [read(given), await readByGo(given)];
      if ("malformed" in own) return void tally[byGo.error === undefined ? "onlyGo" : "neither"]++;
      tally.both++;
      const { commonName, organizations, hosts } = own;
      expect(byGo).toEqual({
        der: given.toString("latin1").split("\n").slice(1, -2).join(""),
        ...{ isECDSA: true, commonName, organizations, names: organizations.length + 1, others: 0 },
        dnsNames: hosts.filter((host) => isIP(host) === 0),
        addresses: hosts.filter((host) => isIP(host) !== 0),
      });
    }),
    { numRuns: 6_000 },
  );
  for (const number of Object.values(tally)) expect(number).toBeGreaterThan(300);
});

test("what Go makes for a kubelet or an agent is read", async () => {
  const { stdout } = await execa(program, ["make"]);
  const texts = stdout.match(/-----BEGIN[^]+?-----END.*/g) ?? [];
  const readings = texts.map((each) => read(Buffer.from(`${each}\n`)));
  const kubelet = { ...person, hosts: [] };
  const serving = { ...person, hosts: ["w.example.org", "10.0.0.7", "fd00::7", "1:0:0:2::"] };
  const agent = { commonName: "gardener.cloud:node-agent:machine:w@1", organizations: [], hosts: [] };
  expect(readings).toEqual([kubelet, kubelet, kubelet, serving, serving, serving, agent, agent, agent]);
});
