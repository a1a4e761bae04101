import { generateKeyPairSync, sign } from "node:crypto";

/** An element of DER, of what it contains. */
export function element(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(body.length)]), body]);
}

/** A length of DER, in so few bytes as it takes, up to 64 KiB. */
export function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

const hex = (text: string): Buffer => Buffer.from(text, "hex");

/** An attribute of a subject: its type as DER, the tag of its string, and its text in the encoding of that. */
export type SubjectPart = Buffer;

const types = { CN: "0603550403", O: "060355040a", OU: "060355040b" } as const;

/** A part of a subject, in a UTF8String unless another tag is given. */
export const part = (type: keyof typeof types, text: string | Buffer, tag = 0x0c): SubjectPart =>
  element(0x30, hex(types[type]), element(tag, Buffer.from(text as string)));

/** Names of a subject alternative name, by their tags: 0x81 email, 0x82 DNS, 0x86 URI, 0x87 IP address. */
export type AlternativeName = readonly [tag: number, value: string | Buffer];

/** The extension for alternative names. */
export const alternativeNames = (...names: readonly AlternativeName[]): Buffer => {
  const all = names.map(([tag, value]) => element(tag, Buffer.from(value as string)));
  return element(0x30, hex("0603551d11"), element(0x04, element(0x30, ...all)));
};

/** An extension that a signer does not look at: the usage of a key. */
export const keyUsage = element(0x30, hex("0603551d0f"), element(0x04, hex("03020780")));

/** An attribute that requests these extensions. */
export const extensionRequest = (...extensions: readonly Buffer[]): Buffer => extensionRequestOf([extensions]);

/** The same with several lists of extensions, of which the first counts for Go. */
export const extensionRequestOf = (lists: readonly (readonly Buffer[])[]): Buffer =>
  element(0x30, hex("06092a864886f70d01090e"), element(0x31, ...lists.map((each) => element(0x30, ...each))));

/** An attribute with a password, as some programs write it. */
export const challengePassword = element(
  0x30,
  hex("06092a864886f70d010907"),
  element(0x31, element(0x0c, Buffer.from("secret"))),
);

/** The parts of a request: sets of parts of its subject, and attributes. */
export interface CraftedParts {
  readonly subject: readonly (readonly SubjectPart[])[];
  readonly attributes?: readonly Buffer[];
}

const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });

/** The private key of every crafted request, in PEM. */
export const craftedKey = keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString();

/** A certificate request with a good signature, of parts that no program would write, in DER. */
export function craftRequest({ subject, attributes = [] }: CraftedParts): Buffer {
  const body = element(
    0x30,
    hex("020100"),
    element(0x30, ...subject.map((parts) => element(0x31, ...parts))),
    keys.publicKey.export({ type: "spki", format: "der" }),
    element(0xa0, ...attributes),
  );
  const signature = sign("sha256", body, keys.privateKey);
  return element(0x30, body, hex("300a06082a8648ce3d040302"), element(0x03, hex("00"), signature));
}

/** A block of PEM, in the form that the standard asks for. */
export const pemOf = (der: Buffer, label = "CERTIFICATE REQUEST"): string =>
  `-----BEGIN ${label}-----\n${der.toString("base64").replaceAll(/.{64}(?=.)/g, "$&\n")}\n-----END ${label}-----\n`;

/** The subject of a user in these groups, one set for each part. */
export const subjectOf = (commonName: string, organizations: readonly string[]): SubjectPart[][] => [
  ...organizations.map((organization) => [part("O", organization)]),
  [part("CN", commonName)],
];
