import {
  alternativeNames,
  challengePassword,
  craftRequest,
  element,
  extensionRequest,
  keyUsage,
  part,
  pemOf,
  subjectOf,
  type AlternativeName,
} from "./crafted-request.ts";

/** The same subject twice: that of a caller, and the one that the caller must not get. */
export interface Masquerade {
  readonly own: { readonly commonName: string; readonly organizations: readonly string[] };
  readonly foreign: { readonly commonName: string; readonly organizations: readonly string[] };
}

/** The two requests of a masquerade, in PEM. */
export function requestsOf({ own, foreign }: Masquerade): Record<"own" | "foreign", string> {
  const pem = ({ commonName, organizations }: Masquerade["own"]) =>
    pemOf(craftRequest({ subject: subjectOf(commonName, organizations) }));
  return { own: pem(own), foreign: pem(foreign) };
}

/**
 * Texts that Go's parsers take for a request, and that other parsers may read as another one; by what they are. Each is made of the
 * PEM of a request that is allowed and of one that is not.
 */
export function hostileTexts({
  own: innocent,
  foreign: evil,
}: Record<"own" | "foreign", string>): Record<string, string> {
  const [begin] = evil.split("\n");
  return {
    "a block that does not begin a line, and another": `x${innocent}${evil}`,
    "a block of no base64, and another": `${innocent.replace("MI", "!!")}${evil}`,
    "a block with a header that has no end, and another": `${innocent.replace("-----\n", "-----\na: b\n").replace(/\n-----END.*\n/, "\n-----END X-----\n")}${evil}`,
    "a begin of a block within a block": `${innocent.replace(/-----END[^]*$/, "")}${evil}`,
    "two blocks, own first": `${innocent}${evil}`,
    "two blocks, foreign first": `${evil}${innocent}`,
    "text before the block": `hello\n${evil}`,
    "text after the block": `${evil}hello\n`,
    "an empty line before the block": `\n${evil}`,
    "an empty line after the block": `${evil}\n`,
    "a header": evil.replace("-----\n", "-----\nName: value\n\n"),
    "lines that end as on Windows": evil.replaceAll("\n", "\r\n"),
    "spaces in the base64": evil.replace("MI", "M I"),
    "tabs at the end of a line": evil.replace("-----\n", "-----\t\n"),
    "shorter lines": evil.replace(/\n(.{10})/, "\n$1\n"),
    "one long line": `${begin}\n${evil.split("\n").slice(1, -2).join("")}\n-----END CERTIFICATE REQUEST-----\n`,
  };
}

/** Well-signed requests that Go's parser reads, and of which other parsers may read something else; by what they are. */
export function hostileRequests({ own, foreign }: Masquerade): Readonly<Record<string, Buffer>> {
  const subject = subjectOf(own.commonName, own.organizations);
  const [evil, [cn]] = [subjectOf(foreign.commonName, foreign.organizations), [part("CN", foreign.commonName)]];
  const others = subject.slice(0, -1);
  return {
    "two common names": craftRequest({ subject: [...subject, [cn]] }),
    "two common names in one set": craftRequest({ subject: [...others, [part("CN", own.commonName), cn]] }),
    "a set of more than one name": craftRequest({ subject: [[...subject.flat()]] }),
    "an organization twice": craftRequest({ subject: [...subject.slice(0, 1), ...subject] }),
    "a further organization": craftRequest({ subject: [...evil.slice(0, -1), ...subject] }),
    "an organizational unit": craftRequest({ subject: [[part("OU", "x")], ...subject] }),
    "a common name in a T61String": craftRequest({
      subject: [...evil.slice(0, -1), [part("CN", foreign.commonName, 0x14)]],
    }),
    "a common name in an IA5String": craftRequest({
      subject: [...evil.slice(0, -1), [part("CN", foreign.commonName, 0x16)]],
    }),
    "a common name in a BMPString": craftRequest({
      subject: [...evil.slice(0, -1), [part("CN", wide(foreign.commonName, 2), 0x1e)]],
    }),
    "a common name in a UniversalString": craftRequest({
      subject: [...subject, [part("CN", wide(foreign.commonName, 4), 0x1c)]],
    }),
    "a common name with a zero": craftRequest({
      subject: [...others, [part("CN", `${own.commonName}\0${foreign.commonName}`)]],
    }),
    "a password": craftRequest({ subject, attributes: [challengePassword] }),
    "an extension for usages": craftRequest({ subject, attributes: [extensionRequest(keyUsage)] }),
    "two requests for extensions": craftRequest({
      subject,
      attributes: [extensionRequest(keyUsage), namesOf("10.0.0.8")],
    }),
    "an attribute without values": craftRequest({
      subject,
      attributes: [element(0x30, Buffer.from("06092a864886f70d01090e3100", "hex"))],
    }),
  };
}

/** Requests for alternative names that are not a kubelet's, with its own subject; by what they are. */
export function hostileNames({ own }: Pick<Masquerade, "own">, ownAddress: string): Readonly<Record<string, Buffer>> {
  const subject = subjectOf(own.commonName, own.organizations);
  const asking = (...names: readonly AlternativeName[]) =>
    craftRequest({ subject, attributes: [extensionRequest(alternativeNames(address(ownAddress), ...names))] });
  return {
    "the API server's name": asking([0x82, "kubernetes.default.svc"]),
    "another address": asking(address("10.0.0.8")),
    "the own address as a name": asking([0x82, ownAddress]),
    "names in a second request for extensions": craftRequest({
      subject,
      attributes: [extensionRequest(keyUsage), namesOf("10.0.0.8")],
    }),
    "names beside an extension for usages": craftRequest({
      subject,
      attributes: [extensionRequest(keyUsage, alternativeNames(address("10.0.0.8")))],
    }),
    "an IPv4 address as one of IPv6": asking([0x87, Buffer.from("00000000000000000000ffff0a000008", "hex")]),
    "an email address": asking([0x81, "root@example.org"]),
    "a URI": asking([0x86, "spiffe://example.org/x"]),
    "a name of a directory": asking([0xa4, element(0x30)]),
  };
}

const address = (text: string): AlternativeName => [0x87, Buffer.from(text.split(".").map(Number))];

const namesOf = (host: string): Buffer => extensionRequest(alternativeNames(address(host)));

/** A text in so many bytes for each character. */
const wide = (text: string, bytes: number): Buffer =>
  Buffer.concat(
    [...text].map((letter) => Buffer.from([...Array.from({ length: bytes - 1 }, () => 0), letter.charCodeAt(0)])),
  );
