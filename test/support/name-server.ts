import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createSocket } from "node:dgram";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import { queryRecords, type NameServer } from "../../src/provider-local/name-server.ts";

/** A real BIND on a loopback port that answers for one zone and takes updates signed with its key. */
export interface TestNameServer {
  readonly server: NameServer;
  readonly key: { readonly name: string; readonly secret: string; readonly algorithm: string };
  readonly zone: string;
  stop(): Promise<void>;
}

/** Starts named; fails with a sentence that says how to get it when it is not installed. */
export async function startNameServer(zone = "perennial.test"): Promise<TestNameServer> {
  const directory = await mkdtemp(join(tmpdir(), "perennial-named-"));
  const port = await freePort();
  const key = {
    name: "test",
    secret: Buffer.from("a secret of thirty-two bytes....").toString("base64"),
    algorithm: "hmac-sha256",
  };
  const keyFile = join(directory, "key");
  await writeFile(keyFile, `key "${key.name}" { algorithm ${key.algorithm}; secret "${key.secret}"; };\n`);
  await writeFile(
    join(directory, "zone.db"),
    `$TTL 10\n@ IN SOA ns.${zone}. admin.${zone}. ( 1 60 30 86400 1 )\n@ IN NS ns.${zone}.\nns IN A 127.0.0.1\n`,
  );
  await writeFile(join(directory, "named.conf"), renderConfig(directory, port, zone));
  const named = execa("named", ["-g", "-n", "1", "-c", join(directory, "named.conf")], {
    reject: false,
    all: true,
    cleanup: true,
  });
  const server = { address: "127.0.0.1", port, key: { file: keyFile } };
  for (let attempt = 0; ; attempt++) {
    const address = await queryRecords(server, { name: `ns.${zone}`, type: "A" }).catch(() => []);
    if (address.length > 0) break;
    if (attempt > 100)
      throw new Error("named does not answer; is bind9 installed? (apt-get install bind9 bind9-dnsutils)");
    await sleep(100);
  }
  return {
    ...{ server, key, zone },
    async stop() {
      named.kill("SIGTERM");
      await named;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function renderConfig(directory: string, port: number, zone: string): string {
  return `include "${directory}/key";
controls { };
options {
  directory "${directory}"; pid-file none; session-keyfile none; lock-file none;
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  recursion no; allow-transfer { none; }; dnssec-validation no; empty-zones-enable no;
};
zone "${zone}" { type master; file "zone.db"; allow-update { key "test"; }; };
`;
}

async function freePort(): Promise<number> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(resolve));
  return port;
}
