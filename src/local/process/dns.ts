import { randomBytes } from "node:crypto";
import { copyFile, mkdir, readFile, rename } from "node:fs/promises";
import { Resolver } from "node:dns/promises";
import { join } from "node:path";
import type { Environment } from "../environment/environment.ts";
import { findProgram } from "../binary/path.ts";
import { replaceFile } from "../replace-file.ts";
import type { Processes } from "./processes.ts";

/** Where the DNS server of an environment answers, and the file with the key that may change its zone. */
export interface DnsServer {
  readonly address: string;
  readonly keyFile: string;
  /** The file with the key that may change the zone of the leadership records, and nothing else; no seed has it. */
  readonly leadershipKeyFile: string;
  /** The file with the key that signs questions, and may change nothing. */
  readonly askKeyFile: string;
}

/** The files of the environment's DNS server that others read: `dns/server`, and the keys beside it. */
export function dnsServer({ stateDir, gateway }: Pick<Environment, "stateDir" | "gateway">): DnsServer {
  const file = (name: string) => join(stateDir, "dns", name);
  return {
    address: gateway,
    keyFile: file("tsig.key"),
    leadershipKeyFile: file("leadership.key"),
    askKeyFile: file("ask.key"),
  };
}

/**
 * The domain of the records that say who leads. It is beside the environment's domain and not below it: who may change a
 * zone may also name other servers for what is below.
 */
export const leadershipDomain = ({ domain }: Pick<Environment, "domain">): string => `leadership-${domain}`;

/**
 * The only zone that the DNSRecord controller of upstream's provider-local writes into. It finds the name server as `ns` of
 * the zone, and signs nothing.
 */
export const upstreamZone = "local.gardener.cloud";

/**
 * Starts BIND on port 53 of the gateway address and nowhere else: master of the environment's two zones, each of which the
 * holders of its own key may change (RFC 2136), and a resolver for machines and pods through the host's own resolvers where it has any.
 * Where upstream's provider-local is to serve, it has that one's zone, too, which whatever is in the environment may change.
 */
export async function startDns(environment: Environment, processes: Processes): Promise<DnsServer> {
  const { stateDir, gateway, domain } = environment;
  const folder = join(stateDir, "dns");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { keyFile, leadershipKeyFile, askKeyFile } = dnsServer(environment);
  const keys = { [keyFile]: keyName, [leadershipKeyFile]: leadershipKeyName, [askKeyFile]: askKeyName };
  for (const [file, name] of Object.entries(keys))
    await createOnce(file, renderKey(randomBytes(32).toString("base64"), name));
  const zones = zonesOf(environment);
  for (const zone of Object.keys(zones))
    await createOnce(join(folder, zoneFile(zone)), renderZone({ domain: zone, gateway }));
  const forwarders = findResolvers(await readFile("/etc/resolv.conf", "utf8").catch(() => ""), gateway);
  const config = renderConfig({ folder, keyFiles: Object.keys(keys), zones, gateway, forwarders });
  await replaceFile(join(folder, "named.conf"), config);
  await replaceFile(join(folder, "server"), `${gateway}\n`);
  await processes.start({
    name: "dns",
    command: await privateCopy(folder),
    args: ["-g", "-n", "1", "-c", join(folder, "named.conf")],
    version: config,
    ready: async () => await answers(gateway, domain),
  });
  return dnsServer(environment);
}

/** The environment's zones, and who may change each, in named's words. */
export const zonesOf = (
  environment: Pick<Environment, "domain" | "network" | "left">,
): Readonly<Record<string, string>> => ({
  [environment.domain]: `key "${keyName}"`,
  [leadershipDomain(environment)]: `key "${leadershipKeyName}"`,
  ...(environment.left !== undefined && { [upstreamZone]: environment.network }),
});

/** The name of the TSIG key that signs updates of the environment's zone. */
export const keyName = "perennial";

/** The name of the one that signs updates of the leadership records' zone. */
export const leadershipKeyName = "perennial-leadership";

const zoneFile = (zone: string): string => `${zone}.db`;

/** The name of the one that signs questions. */
const askKeyName = "perennial-ask";

/** A key file as `nsupdate -k` and named both read it. */
export function renderKey(secret: string, name: string = keyName): string {
  return `key "${name}" {\n  algorithm hmac-sha256;\n  secret "${secret}";\n};\n`;
}

/** The name servers in a resolv.conf, without our own. */
export function findResolvers(resolvConf: string, own: string): string[] {
  const servers = [...resolvConf.matchAll(/^\s*nameserver\s+([0-9a-fA-F.:]+)/gm)].map((match) => String(match[1]));
  return servers.filter((server) => server !== own);
}

/** The configuration of named. */
export function renderConfig(parts: {
  readonly folder: string;
  readonly keyFiles: readonly string[];
  /** By each zone's name, who may change it, in named's words. */
  readonly zones: Readonly<Record<string, string>>;
  readonly gateway: string;
  readonly forwarders: readonly string[];
}): string {
  const { folder, keyFiles, zones, gateway, forwarders } = parts;
  const forward =
    forwarders.length === 0
      ? ["recursion no;"]
      : ["recursion yes;", "forward only;", `forwarders { ${forwarders.join("; ")}; };`];
  const options = [
    `directory "${folder}";`,
    `pid-file "${folder}/named.pid";`,
    `session-keyfile "${folder}/session.key";`,
    `lock-file none;`,
    `listen-on port 53 { ${gateway}; };`,
    "listen-on-v6 { none; };",
    "interface-interval 0;",
    "allow-query { any; };",
    "allow-recursion { any; };",
    "allow-transfer { none; };",
    "dnssec-validation no;",
    "empty-zones-enable no;",
    "max-cache-size 16m;",
    ...forward,
  ];
  const block = (head: string, lines: readonly string[]) =>
    `${head} {\n${lines.map((line) => `  ${line}`).join("\n")}\n};`;
  const zoneOf = ([zone, updaters]: [string, string]) =>
    block(`zone "${zone}"`, [
      "type master;",
      `file "${zoneFile(zone)}";`,
      `allow-update { ${updaters}; };`,
      "max-journal-size 1m;",
    ]);
  return [
    ...keyFiles.map((file) => `include "${file}";`),
    "controls { };",
    block("options", options),
    ...Object.entries(zones).map(zoneOf),
    "",
  ].join("\n");
}

/** The zone as it begins: its own name server, and nothing else that is remembered for long. */
export function renderZone({ domain, gateway }: Pick<Environment, "domain" | "gateway">): string {
  return [
    "$TTL 10",
    `@ IN SOA ns.${domain}. admin.${domain}. ( 1 60 30 86400 1 )`,
    `@ IN NS ns.${domain}.`,
    `ns IN A ${gateway}`,
    "",
  ].join("\n");
}

/** The AppArmor profile that some distributions give named, by its path, keeps it out of our folder: it runs as a copy. */
async function privateCopy(folder: string): Promise<string> {
  const named = await findProgram("named");
  if (named === undefined) throw new Error("cannot start the DNS server: there is no named; install bind9");
  const copy = join(folder, "named");
  await copyFile(named, `${copy}.new`);
  await rename(`${copy}.new`, copy);
  return copy;
}

async function answers(gateway: string, domain: string): Promise<boolean> {
  const resolver = new Resolver({ timeout: 500, tries: 1 });
  resolver.setServers([gateway]);
  const [address] = await resolver.resolve4(`ns.${domain}`);
  return address === gateway;
}

async function createOnce(file: string, content: string): Promise<void> {
  const existing = await readFile(file, "utf8").catch(() => undefined);
  if (existing === undefined) await replaceFile(file, content);
}
