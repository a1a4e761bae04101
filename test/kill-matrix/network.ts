import { spawn } from "node:child_process";

/** The addresses of the seeds' load balancers, from the range for such tests (RFC 2544): in a Shoot's cluster, none of loopback is allowed. */
export const seedAddresses: readonly string[] = ["198.18.1.1", "198.18.2.1"];

const MARK = "PERENNIAL_LAB_NETWORK";

/** Whether this process has the network that a lab needs. */
export const hasOwnNetwork = (): boolean => process.env[MARK] !== undefined;

/**
 * Runs this same command again in a network of its own, where nobody else uses the lab's addresses and ports and where
 * nothing is left behind; returns its exit code. Works for whoever may make network namespaces.
 */
export async function rerunInOwnNetwork(): Promise<number> {
  const rights = process.getuid?.() === 0 ? [] : ["--map-root-user"];
  const addresses = seedAddresses.map((address) => `ip address add ${address}/32 dev lo`);
  // An API server looks for a way out at its start.
  const route = "ip route add default dev lo";
  const script = ["set -e", "ip link set lo up", ...addresses, route, 'exec "$@"'].join("\n");
  const command = [
    "--net",
    ...rights,
    "sh",
    "-c",
    script,
    "sh",
    process.execPath,
    ...process.execArgv,
    ...process.argv.slice(1),
  ];
  const child = spawn("unshare", command, { stdio: "inherit", env: { ...process.env, [MARK]: "own" } });
  const pass = (signal: NodeJS.Signals): void => void child.kill(signal);
  process.on("SIGINT", pass).on("SIGTERM", pass);
  return await new Promise((resolve, reject) => {
    child.once("error", reject).once("close", (code) => resolve(code ?? 1));
  });
}
