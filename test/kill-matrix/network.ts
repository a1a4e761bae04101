import { spawn, type ChildProcess } from "node:child_process";

/** The addresses of the seeds' load balancers, from the range for such tests (RFC 2544): in a Shoot's cluster, none of loopback is allowed. */
export const seedAddresses: readonly string[] = ["198.18.1.1", "198.18.2.1"];

/**
 * Runs a script of ours in a network of its own, where nobody else uses a lab's addresses and ports and where nothing is
 * left behind. Works for whoever may make network namespaces. The process dies with this one.
 */
export function spawnInOwnNetwork(script: string): ChildProcess {
  const rights = process.getuid?.() === 0 ? [] : ["--map-root-user"];
  const addresses = seedAddresses.map((address) => `ip address add ${address}/32 dev lo`);
  // An API server looks for a way out at its start.
  const route = "ip route add default dev lo";
  const prepare = ["set -e", "ip link set lo up", ...addresses, route, 'exec "$@"'].join("\n");
  const network = ["unshare", "--net", ...rights, "sh", "-c", prepare, "sh"];
  const command = ["--pdeathsig", "KILL", ...network, process.execPath, ...process.execArgv, script];
  return spawn("setpriv", command, { stdio: ["pipe", "pipe", "inherit"] });
}
