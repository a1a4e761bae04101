import { parseKubeconfig } from "../../src/kube/index.ts";
import { NODE } from "./watched-init.ts";
import type { MachineGround } from "./ground.ts";

/** What a client in the cluster saw of its API servers. */
export interface Seen {
  readonly asked: number;
  readonly refused: number;
  /** Between two answers, in ms. */
  readonly longestGap: number;
}

/** A client by name, which tries all addresses that the name has, and one by the cluster's Service. */
export interface ProbeResult {
  readonly name: Seen;
  readonly service: Seen;
}

/**
 * Reads from API servers every 200 ms on the machine, each time by a new connection, until `work` has ended. The name has an
 * address for each of `servers`; the next one is tried after a quarter of a second.
 */
export async function probeDuring<T>(
  ground: Pick<MachineGround, "run" | "kubeconfig"> & {
    readonly machines: Pick<MachineGround["machines"], "list" | "exec">;
  },
  machine: string,
  servers: readonly string[],
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly seen: ProbeResult }> {
  const list = await ground.machines.list();
  const addresses = list.filter(({ name }) => servers.includes(name)).map(({ address }) => address);
  const { cluster, user } = parseKubeconfig(await ground.kubeconfig(servers[0] ?? ""));
  await ground.run(machine, ["rm", "-f", STOP]);
  const stdin = JSON.stringify({ addresses, cluster, user });
  const probing = ground.run(machine, [NODE, "-e", PROBE], stdin);
  try {
    const result = await work();
    await ground.run(machine, ["touch", STOP]);
    return { result, seen: JSON.parse(await probing) as ProbeResult };
  } catch (error) {
    await ground.machines.exec(machine, ["touch", STOP]);
    await probing.catch(() => "");
    throw error;
  }
}

const STOP = "/run/probe-stop";

/** Runs on the machine. Reads a namespace, which takes an etcd with a quorum. */
const PROBE = `
const { existsSync, readFileSync } = require("node:fs");
const { request } = require("node:https");
const { addresses, cluster, user } = JSON.parse(readFileSync(0, "utf8"));
const pem = (text) => Buffer.from(text, "base64");
const credentials = {
  ca: pem(cluster["certificate-authority-data"]),
  cert: pem(user["client-certificate-data"]),
  key: pem(user["client-key-data"]),
};
const all = addresses.map((address) => ({ address, family: 4 }));
const lookup = (_, options, done) => (options.all ? done(null, all) : done(null, all[0].address, 4));
const ask = (more) => new Promise((resolve) => {
  const options = { ...credentials, port: 443, path: "/api/v1/namespaces/default", agent: false, timeout: 2000, servername: "kubernetes", ...more };
  const call = request(options, (response) => { response.resume(); resolve(response.statusCode === 200); });
  call.on("error", () => resolve(false)).on("timeout", () => call.destroy());
  call.end();
});
const probe = async (more) => {
  const seen = { asked: 0, refused: 0, longestGap: 0 };
  let last = performance.now();
  while (!existsSync("${STOP}")) {
    const begun = performance.now();
    const ok = await ask(more);
    const now = performance.now();
    seen.asked++;
    if (ok) { seen.longestGap = Math.max(seen.longestGap, now - last); last = now; } else seen.refused++;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, 200 - (now - begun))));
  }
  seen.longestGap = Math.max(seen.longestGap, performance.now() - last);
  return seen;
};
const byName = { host: "kubernetes", lookup, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 250 };
Promise.all([probe(byName), probe({ host: "10.185.0.1" })]).then(([name, service]) => console.log(JSON.stringify({ name, service })));
`;
