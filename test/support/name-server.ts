import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import { queryRecords, type NameServer } from "../../src/provider-local/dns/name-server.ts";
import { claimDirectory, controlPlanePrefix, recordChild, sweepLeftovers } from "./leftovers.ts";

/** A real BIND on a loopback port that answers for one zone and takes updates signed with its key. */
export interface TestNameServer {
  readonly server: NameServer;
  readonly key: { readonly name: string; readonly secret: string; readonly algorithm: string };
  readonly zone: string;
  /** `address:port`, as processes are told it. */
  readonly endpoint: string;
  /** The file of a key that signs questions, and may change nothing. */
  readonly askKeyFile: string;
  /** SIGKILLs it; what was updated stays. */
  kill(): Promise<void>;
  /** Starts it again at the same port. */
  restart(): Promise<void>;
  /** Another server of the zone, which copies it from this one every `refresh` seconds. */
  addSecondary(refresh: number): Promise<SecondaryNameServer>;
  /** A resolver that forwards questions to this server, and remembers the answers. */
  addCache(): Promise<SecondaryNameServer>;
  /** Changes the zone at once by lines of nsupdate, such as `add ns2.perennial.test 10 A 127.0.0.1`. */
  update(...lines: string[]): Promise<void>;
  stop(): Promise<void>;
}

/** A copy of the zone on a server of its own. Once killed, it knows nothing until it has copied the zone again. */
export type SecondaryNameServer = Pick<TestNameServer, "endpoint" | "kill" | "restart" | "stop">;

/** Where it listens, and who may change the zone without its key. */
export interface NameServerOptions {
  /** An address of loopback; a free port of the usual one unless told. */
  readonly at?: { readonly address: string; readonly port: number };
  /** A network from which anybody may. */
  readonly openTo?: string;
}

/** Starts named; fails with a sentence that says how to get it when it is not installed. */
export async function startNameServer(
  zone = "perennial.test",
  { at, openTo }: NameServerOptions = {},
): Promise<TestNameServer> {
  const primary = await startNamed(zone, (directory) => renderPrimary(directory, zone, openTo), { at });
  const { server } = primary;
  const others: Named[] = [];
  const add = async (renderZone: (directory: string) => string, recursion?: "yes") => {
    const other = await startNamed(zone, renderZone, { recursion });
    others.push(other);
    const { kill, restart, stop } = other;
    return { endpoint: endpointOf(other), kill, restart, stop };
  };
  return {
    ...{ server, key, zone, endpoint: endpointOf(primary), kill: primary.kill, restart: primary.restart },
    askKeyFile: join(primary.directory, "ask.key"),
    addSecondary: (refresh) => add(() => renderSecondary(zone, server.port, refresh)),
    addCache: () => add(() => renderCache(zone, server.port), "yes"),
    async update(...lines) {
      const updates = lines.map((line) => `update ${line}\n`).join("");
      const input = `server ${server.address} ${server.port}\nzone ${zone}\n${updates}send\n`;
      await execa("nsupdate", ["-k", join(primary.directory, "key")], { input });
    },
    async stop() {
      await Promise.all([primary, ...others].map((one) => one.stop()));
    },
  };
}

const key = {
  name: "test",
  secret: Buffer.from("a secret of thirty-two bytes....").toString("base64"),
  algorithm: "hmac-sha256",
};

const askKey = { ...key, name: "ask", secret: Buffer.from("another secret of thirty-two....").toString("base64") };

const renderKey = ({ name, algorithm, secret }: typeof key): string =>
  `key "${name}" { algorithm ${algorithm}; secret "${secret}"; };\n`;

interface Named {
  readonly directory: string;
  readonly server: NameServer & { readonly port: number };
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const endpointOf = ({ server }: Named): string => `${server.address}:${server.port}`;

async function startNamed(
  zone: string,
  renderZone: (directory: string) => string,
  {
    recursion = "no",
    at,
  }: { readonly recursion?: "yes" | "no" | undefined; readonly at?: NameServerOptions["at"] | undefined },
): Promise<Named> {
  await sweepLeftovers();
  const directory = await mkdtemp(join(tmpdir(), `${controlPlanePrefix}named-`));
  await claimDirectory(directory);
  const { address, port } = at ?? { address: "127.0.0.1", port: await freePort() };
  const keyFile = join(directory, "key");
  await writeFile(keyFile, renderKey(key));
  await writeFile(join(directory, "ask.key"), renderKey(askKey));
  await writeFile(
    join(directory, "zone.db"),
    `$TTL 10\n@ IN SOA ns.${zone}. admin.${zone}. ( 1 60 30 86400 1 )\n@ IN NS ns.${zone}.\nns IN A 127.0.0.1\n`,
  );
  await writeFile(
    join(directory, "named.conf"),
    renderOptions(directory, { address, port }, recursion) + renderZone(directory),
  );
  const server = { address, port, key: { file: keyFile } };
  let named = await run(directory);
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    named.kill(signal);
    await named.ended;
  };
  const restart = async () => {
    await end("SIGKILL");
    named = await run(directory);
    await answers(server, zone, named);
  };
  const stop = async () => {
    await end("SIGTERM");
    await rm(directory, { recursive: true, force: true });
  };
  await answers(server, zone, named);
  return { directory, server, kill: () => end("SIGKILL"), restart, stop };
}

interface Running {
  readonly ended: Promise<{ readonly all: string }>;
  kill(signal: "SIGTERM" | "SIGKILL"): void;
}

/** Noted in the directory: named changes its user, and then no longer dies with its parent. */
async function run(directory: string): Promise<Running> {
  const configuration = join(directory, "named.conf");
  const child = execa("named", ["-g", "-n", "1", "-c", configuration], { reject: false, all: true, cleanable: true });
  if (child.pid !== undefined) await recordChild(directory, child.pid);
  return { ended: child, kill: (signal) => void child.kill(signal) };
}

async function answers(server: NameServer, zone: string, named: Running): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const address = await queryRecords(server, { name: `ns.${zone}`, type: "A" }).catch(() => []);
    if (address.length > 0) return;
    if (attempt > 100) {
      named.kill("SIGTERM");
      const log = (await named.ended).all.split("\n").slice(-20).join("\n");
      throw new Error(`named does not answer; is bind9 installed? (apt-get install bind9 bind9-dnsutils)\n${log}`);
    }
    await sleep(100);
  }
}

function renderOptions(
  directory: string,
  { address, port }: { readonly address: string; readonly port: number },
  recursion: "yes" | "no",
): string {
  return `include "${directory}/key";
include "${directory}/ask.key";
controls { };
options {
  directory "${directory}"; pid-file none; session-keyfile none; lock-file none;
  listen-on port ${port} { ${address}; }; listen-on-v6 { none; };
  dnssec-validation no; empty-zones-enable no; recursion ${recursion};
};
`;
}

/** It asks that server for everything, and answers again what it was told until its time to live is over. */
function renderCache(zone: string, server: number): string {
  return `zone "${zone}" { type forward; forward only; forwarders { 127.0.0.1 port ${server}; }; };\n`;
}

function renderPrimary(directory: string, zone: string, openTo?: string): string {
  const updaters = ['key "test"', ...(openTo === undefined ? [] : [openTo])];
  return `zone "${zone}" {
  type master; file "${directory}/zone.db"; allow-update { ${updaters.join("; ")}; }; allow-transfer { 127.0.0.1; }; notify no;
};
`;
}

function renderSecondary(zone: string, primary: number, refresh: number): string {
  return `zone "${zone}" {
  type slave; masters { 127.0.0.1 port ${primary}; }; allow-transfer { none; }; notify no;
  min-refresh-time ${refresh}; max-refresh-time ${refresh}; min-retry-time 1; max-retry-time 1;
};
`;
}

/** Free for UDP, and for TCP, which zones are transferred by: named does not mind when it gets only one of them. */
async function freePort(): Promise<number> {
  for (;;) {
    const socket = createSocket("udp4");
    await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
    const { port } = socket.address();
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    await new Promise<void>((resolve) => (free ? server.close(() => resolve()) : resolve()));
    await new Promise<void>((resolve) => socket.close(resolve));
    if (free) return port;
  }
}
