import { createPublicKey } from "node:crypto";
import { isIP } from "node:net";
import { readElements, TAGS, type Element } from "./der.ts";

/** The subject that a certificate is requested for, and the names and addresses that it would serve under. */
export interface RequestedCertificate {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** DNS names, and IP addresses in their usual form. */
  readonly hosts: readonly string[];
}

/** The reason why a request is not judged by its content: its signer might read something else. */
export interface MalformedRequest {
  readonly malformed: string;
}

/**
 * Reads `spec.request` of a CertificateSigningRequest, base64 of PEM, as Go does for the signer in kube-controller-manager. Whatever Go could
 * read differently is malformed: a request is one PEM block and nothing else, in DER, with one common name, any organizations
 * and at most the extension for alternative names.
 */
export function readCertificateRequest(encoded: string): RequestedCertificate | MalformedRequest {
  try {
    return readDer(readPem(encoded));
  } catch (error) {
    return { malformed: error instanceof Error ? error.message : String(error) };
  }
}

/** In characters of base64. A request with a few names takes less than a thousand. */
const LONGEST = 32_768;

const [BEGIN, END] = ["-----BEGIN CERTIFICATE REQUEST-----\n", "\n-----END CERTIFICATE REQUEST-----"] as const;

/** Encodes again what it has read, and compares: no other text has these bytes. */
function readPem(encoded: string): Buffer {
  if (encoded.length > LONGEST) throw new Error("it is longer than 24 KiB");
  const text = Buffer.from(encoded, "base64").toString("latin1");
  const der = Buffer.from(text.slice(BEGIN.length, text.lastIndexOf(END)), "base64");
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  const pem = `${BEGIN}${lines.join("\n")}${END}`;
  if (text !== pem && text !== `${pem}\n`)
    throw new Error("it is not one PEM block of type CERTIFICATE REQUEST, without headers and without text around it");
  return der;
}

function readDer(der: Buffer): RequestedCertificate {
  const [whole] = readExactly(der, 1);
  const [body, algorithm, signature] = childrenOf(whole, TAGS.sequence, 3);
  const [version, subject, key, attributes] = childrenOf(body, TAGS.sequence, 4);
  if (hexOf(version) !== "020100") throw new Error("it is not of version 1");
  if (!SIGNATURE_ALGORITHMS.includes(hexOf(algorithm))) throw new Error("its signature is not of ECDSA with SHA-2");
  if (contentOf(signature, TAGS.bits)[0] !== 0) throw new Error("its signature is not a whole number of bytes");
  checkKey(key);
  return { ...readSubject(subject), hosts: readHosts(attributes) };
}

/** ECDSA with SHA-256, SHA-384 and SHA-512. */
const SIGNATURE_ALGORITHMS = ["02", "03", "04"].map((hash) => `300a06082a8648ce3d0403${hash}`);

/** Elliptic curves P-256, P-384 and P-521 by name, which is what kubelets and agents use. */
const KEY_ALGORITHMS = [
  "301306072a8648ce3d020106082a8648ce3d030107",
  "301006072a8648ce3d020106052b81040022",
  "301006072a8648ce3d020106052b81040023",
];

function checkKey(key: Element | undefined): void {
  const [algorithm, point] = childrenOf(key, TAGS.sequence, 2);
  const [unused, form] = contentOf(point, TAGS.bits);
  if (!KEY_ALGORITHMS.includes(hexOf(algorithm)) || unused !== 0 || form !== UNCOMPRESSED)
    throw new Error("its key is not on curve P-256, P-384 or P-521, named and uncompressed");
  try {
    createPublicKey({ key: key?.whole ?? Buffer.alloc(0), format: "der", type: "spki" });
  } catch (cause) {
    throw new Error("its key is not a point of its curve", { cause });
  }
}

const UNCOMPRESSED = 4;

const [COMMON_NAME, ORGANIZATION] = ["0603550403", "060355040a"] as const;

function readSubject(subject: Element | undefined): Pick<RequestedCertificate, "commonName" | "organizations"> {
  const parts = childrenOf(subject, TAGS.sequence).map((part) => {
    const [attribute] = childrenOf(part, TAGS.set, 1);
    const [type, value] = childrenOf(attribute, TAGS.sequence, 2);
    return { type: hexOf(type), text: readString(value) };
  });
  const textsOf = (wanted: string) => parts.filter(({ type }) => type === wanted).map(({ text }) => text);
  const [organizations, [commonName, ...more]] = [textsOf(ORGANIZATION), textsOf(COMMON_NAME)];
  if (commonName === undefined || more.length > 0) throw new Error("its subject does not have exactly one common name");
  if (organizations.length + 1 !== parts.length)
    throw new Error("its subject has more than a common name and organizations");
  return { commonName, organizations };
}

/** Of the types of strings that certificates know, others are read in more than one way. */
function readString(value: Element | undefined): string {
  const allowed = value?.tag === TAGS.printable ? /^[A-Za-z0-9 '()+,\-./:=?]+$/ : /^[ -~]+$/;
  const text = value?.content.toString("latin1") ?? "";
  if ((value?.tag !== TAGS.printable && value?.tag !== TAGS.utf8) || !allowed.test(text))
    throw new Error("its subject has a value that is not ASCII in a UTF8String or a PrintableString");
  return text;
}

const [EXTENSION_REQUEST, ALTERNATIVE_NAMES] = ["06092a864886f70d01090e", "0603551d11"] as const;

function readHosts(attributes: Element | undefined): string[] {
  if (attributes?.tag === TAGS.attributes && attributes.content.length === 0) return [];
  const [attribute] = childrenOf(attributes, TAGS.attributes, 1);
  const [type, values] = childrenOf(attribute, TAGS.sequence, 2);
  const [extensions] = childrenOf(values, TAGS.set, 1);
  const [extension] = childrenOf(extensions, TAGS.sequence, 1);
  const [id, content] = childrenOf(extension, TAGS.sequence, 2);
  if (hexOf(type) !== EXTENSION_REQUEST || hexOf(id) !== ALTERNATIVE_NAMES)
    throw new Error("it has an attribute or an extension other than that for alternative names");
  const [names] = readExactly(contentOf(content, TAGS.octets), 1);
  return childrenOf(names, TAGS.sequence).map(readHost);
}

function readHost({ tag, content }: Element): string {
  const name = content.toString("latin1");
  if (tag === TAGS.dnsName && /^[A-Za-z0-9*._-]+$/.test(name) && isIP(name) === 0) return name;
  if (tag === TAGS.address && content.length === 4) return content.join(".");
  if (tag === TAGS.address && content.length === 16 && !MAPPED.equals(content.subarray(0, 12))) return ipv6Of(content);
  throw new Error("it has an alternative name that is neither a DNS name nor an IP address");
}

/** What IPv6 addresses that mean IPv4 ones begin with: Go writes these as IPv4. */
const MAPPED = Buffer.from("00000000000000000000ffff", "hex");

const ipv6Of = (bytes: Buffer): string =>
  new URL(`http://[${bytes.toString("hex").match(/.{4}/g)?.join(":") ?? ""}]`).hostname.slice(1, -1);

/** The elements within an element of this tag, which has exactly so many of them. */
function childrenOf(element: Element | undefined, tag: number, count?: number): Element[] {
  return readExactly(contentOf(element, tag), count);
}

function readExactly(bytes: Buffer, count?: number): Element[] {
  const elements = readElements(bytes);
  if (count !== undefined && elements.length !== count)
    throw new Error(`it has ${elements.length} elements where ${count} belong`);
  return elements;
}

function contentOf(element: Element | undefined, tag: number): Buffer {
  if (element?.tag !== tag) throw new Error("it has an element of another type than a certificate request");
  return element.content;
}

const hexOf = (element: Element | undefined): string => element?.whole.toString("hex") ?? "";
