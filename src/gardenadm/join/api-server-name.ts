import { lookup } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import { hostOf } from "../../components/index.ts";
import { writeWhole } from "../../node-agent/whole-file.ts";
import type { TrustedCluster } from "./trust.ts";

/**
 * Makes the name of the cluster's API servers lead somewhere, until the machine's configuration says where: to the address that the
 * operator has given, by a line in `/etc/hosts`, which that configuration replaces. Nothing where the name leads there, to an API
 * server of the machine's own, or elsewhere by other means; lines of another address are of a control plane that has moved.
 */
export async function ensureName({ server }: TrustedCluster, address: string, root: string): Promise<void> {
  const { hostname: name } = new URL(server);
  if (isIP(name) !== 0) return;
  const { address: ip } = await lookup(hostOf(address));
  const file = join(root, "/etc/hosts");
  const lines = (await readFile(file, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
  const ours = lines.filter((line) => line.endsWith(" # API server"));
  const isGood = ours.some((line) => line.startsWith(`${ip} `) || line.startsWith("127.0.0.1 "));
  if (isGood || (ours.length === 0 && (await leads(name)))) return;
  const all = [...lines.filter((line) => !ours.includes(line)), `${ip} ${name} # API server`];
  await writeWhole(file, Buffer.from(`${all.join("\n")}\n`), 0o644);
}

async function leads(name: string): Promise<boolean> {
  return await lookup(name).then(
    () => true,
    () => false,
  );
}
