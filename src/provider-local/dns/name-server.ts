import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { execa } from "execa";
import { canonicalName } from "../../dns/domain.ts";
import { ExtensionError } from "../../extension/index.ts";

/** A DNS server that takes signed updates (RFC 2136), and how they are signed. */
export interface NameServer {
  readonly address: string;
  /** 53 unless told otherwise. */
  readonly port?: number;
  readonly key:
    { readonly file: string } | { readonly name: string; readonly secret: string; readonly algorithm: string };
}

/** All values of one name and type. */
export interface RecordSet {
  readonly name: string;
  readonly type: "A" | "AAAA" | "CNAME" | "TXT";
  readonly values: readonly string[];
  /** Seconds. */
  readonly ttl: number;
}

/** What an update depends on, and what ends it early. */
export interface UpdateConditions {
  /** The server refuses unless it holds exactly these values when the update comes; none: unless it holds none. */
  readonly before?: readonly string[];
  readonly signal?: AbortSignal;
}

/** A refusal of the server because it does not serve the zone, or the name is not in it: NOTAUTH or NOTZONE (RFC 2136, 2.2). */
export class ForeignZone extends ExtensionError {
  constructor(what: string, answer: string) {
    super(
      `${what}: ${answer}: use a name in a zone of it, or set in its Secret the server that serves the zone, its key and the zone`,
      ["ERR_CONFIGURATION_PROBLEM"],
    );
  }
}

/**
 * Replaces all values of the name and type in one update; no values removes them. Throws when the server refused, by a
 * {@link ForeignZone} where the zone is not its own, or afterwards answers something else.
 */
export async function updateRecords(
  server: NameServer,
  zone: string | undefined,
  records: RecordSet,
  { before, signal }: UpdateConditions = {},
): Promise<void> {
  const script = renderUpdate(server, zone, records, before);
  const keyFile = "file" in server.key ? ["-k", server.key.file] : [];
  const options = { input: script, reject: false, ...(signal && { cancelSignal: signal }) } as const;
  const { exitCode, stderr } = await execa("nsupdate", [...keyFile, "-t", "10"], options);
  signal?.throwIfAborted();
  const what = `cannot update ${records.type} ${records.name}`;
  if (/\bupdate failed: (?:NOTZONE|NOTAUTH)\b(?!\()/.test(stderr)) throw new ForeignZone(what, stderr.trim());
  // Without a zone, nsupdate asks first which one it is.
  if (zone === undefined && /\bfailed: REFUSED\b/.test(stderr))
    throw new ExtensionError(
      `${what}: the server refuses to answer which zone that is in (REFUSED): set Zone in its Secret to a zone of the server`,
      ["ERR_CONFIGURATION_PROBLEM"],
    );
  if (exitCode !== 0) throw new Error(`${what}: ${stderr.trim() || "nsupdate failed"}`);
  const answered = await queryRecords(server, records);
  const wanted = normalize(records);
  if (JSON.stringify(answered) === JSON.stringify(wanted)) return;
  throw new Error(`${what}: the server answers [${answered.join(", ")}] instead of [${wanted.join(", ")}]`);
}

/** What the server itself says now, sorted; nothing when it has none. */
export async function queryRecords(
  server: NameServer,
  { name, type }: Pick<RecordSet, "name" | "type">,
): Promise<string[]> {
  const resolver = new Resolver({ timeout: 2_000, tries: 3 });
  resolver.setServers([endpointOf(server)]);
  try {
    const answer = await resolver.resolve(name, type);
    const values = (answer as (string | string[])[]).map((value) => (Array.isArray(value) ? textOf(value) : value));
    return normalize({ type, values });
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENODATA" || error.code === "ENOTFOUND"))
      return [];
    throw new Error(`cannot ask for ${type} ${name}`, { cause: error });
  }
}

/** The server as `address:port`, an IPv6 address in brackets. */
export function endpointOf({ address, port = 53 }: NameServer): string {
  return `${address.includes(":") ? `[${address}]` : address}:${port}`;
}

/** Node reads each byte of a TXT record as one character. */
function textOf(strings: readonly string[]): string {
  return Buffer.from(strings.join(""), "latin1").toString("utf8");
}

/** The lines that nsupdate reads: the old values and the new ones in one transaction, on condition of what was `before`. */
export function renderUpdate(
  server: NameServer,
  zone: string | undefined,
  records: RecordSet,
  before?: readonly string[],
): string {
  const problem = problemOf(server);
  if (problem !== undefined) throw new Error(`cannot use the DNS server: ${problem}`);
  const name = absolute(records.name);
  return [
    `server ${server.address} ${server.port ?? 53}`,
    ...("file" in server.key ? [] : [`key ${server.key.algorithm}:${server.key.name} ${server.key.secret}`]),
    ...(zone === undefined ? [] : [`zone ${absolute(zone)}`]),
    ...(before === undefined ? [] : renderCondition(name, records.type, before)),
    `update delete ${name} ${records.type}`,
    ...records.values.map(
      (value) => `update add ${name} ${records.ttl} ${records.type} ${renderValue(records.type, value)}`,
    ),
    "send",
    "",
  ].join("\n");
}

/**
 * What keeps a server from being used: nsupdate would read a space or a line break in it as the end of a word or a command, and would
 * quote a secret that it cannot use. The sentence names what is wrong, in the words of the Secret that users write, and quotes nothing.
 */
export function problemOf({ address, port = 53, key }: NameServer): string | undefined {
  if (isIP(address) === 0 || address.includes("%"))
    return "Server is not an IP address, such as 10.0.0.53 or [fd00::53]:5353";
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return "the port of Server is not between 1 and 65535";
  if ("file" in key) return undefined;
  if (!/^[-\w.]{1,253}$/.test(key.name)) return "TSIGKeyName is not the name of a key, such as update-key";
  if (!/^hmac-(?:md5|sha(?:1|224|256|384|512))$/.test(key.algorithm))
    return "TSIGSecretAlgorithm is not an algorithm, such as hmac-sha256";
  const isBase64 = /^[A-Za-z0-9+/]{2,1024}={0,2}$/.test(key.secret) && key.secret.length % 4 === 0;
  return isBase64 ? undefined : "TSIGSecret is not base64: write it as tsig-keygen shows it, without a line break";
}

/** The parts of `address`, `address:port` or `[address]:port`. */
export function partsOf(server: string): Pick<NameServer, "address" | "port"> {
  if (isIP(server) !== 0) return { address: server };
  const [, bracketed, plain, port] = /^(?:\[(.*)\]|([^[\]]*)):(\d{1,5})$/.exec(server) ?? [];
  return { address: bracketed ?? plain ?? server, ...(port !== undefined && { port: Number(port) }) };
}

/** RFC 2136, 2.4: the server compares the whole set and changes it in one step. */
function renderCondition(name: string, type: RecordSet["type"], values: readonly string[]): string[] {
  if (values.length === 0) return [`prereq nxrrset ${name} ${type}`];
  return values.map((value) => `prereq yxrrset ${name} ${type} ${renderValue(type, value)}`);
}

function renderValue(type: RecordSet["type"], value: string): string {
  if (type === "CNAME") return absolute(value);
  if (type !== "TXT") return address(value);
  const strings = Buffer.from(value)
    .toString("latin1")
    .match(/[^]{1,255}/g) ?? [""];
  return strings.map((part) => `"${part.replaceAll(/[\\"]|[^ -~]/g, escape)}"`).join(" ");
}

/** Only an address may stand where an address stands: anything else would be read as further commands. */
function address(value: string): string {
  if (isIP(value) === 0) throw new Error(`cannot write an address record: ${JSON.stringify(value)} is no IP address`);
  return value;
}

/** Zone files write a quote or backslash behind a backslash, and a byte that is no printable character as three digits. */
function escape(byte: string): string {
  return /[ -~]/.test(byte) ? `\\${byte}` : `\\${String(byte.charCodeAt(0)).padStart(3, "0")}`;
}

function normalize({ type, values }: Pick<RecordSet, "type" | "values">): string[] {
  return [...new Set(values.map((value) => canonical(type, value)))].sort();
}

/** The one way in which two spellings of the same value are both written. */
function canonical(type: RecordSet["type"], value: string): string {
  if (type === "TXT") return value;
  if (type === "AAAA" && isIP(value) === 6) return new URL(`http://[${value}]`).hostname.slice(1, -1);
  return canonicalName(value);
}

function absolute(name: string): string {
  if (!/^[-\w.*]+$/.test(name))
    throw new Error(`cannot write DNS name ${JSON.stringify(name)}: it has characters that no name has`);
  return name.endsWith(".") ? name : `${name}.`;
}
