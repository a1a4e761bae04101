import { mustExec, type Exec } from "./exec.ts";

/** A machine as its peers know it. */
export interface Peer {
  readonly name: string;
  readonly address: string;
}

/** Writes all its peers, and none that has gone, into the machine's /etc/hosts; other lines stay. One step, as seen from inside. */
export async function writePeers(exec: Exec, name: string, machines: readonly Peer[]): Promise<void> {
  await mustExec(exec, name, ["sh", "-c", replacing], { stdin: peerLines(name, machines) });
}

/** Each line says by its end whose it is. */
function peerLines(name: string, machines: readonly Peer[]): string {
  const others = machines.filter((machine) => machine.name !== name);
  return others.map((peer) => `${peer.address} ${peer.name} ${mark}\n`).join("");
}

const mark = "# machine of this set";

const replacing = `
set -eu
draft=$(mktemp /etc/hosts.XXXXXX)
{ grep -v ' ${mark}$' /etc/hosts || :; cat; } > "$draft"
chmod 644 "$draft"
mv "$draft" /etc/hosts
`;
