import { join } from "node:path";
import { hostOf, type ControlPlaneNode, type EtcdRole } from "../../components/index.ts";
import type { FirstMember } from "../../etcd-data/restore-data.ts";
import { parseYaml } from "../../parsing.ts";
import { readIfThere } from "../machine/is-there.ts";
import { renderYaml } from "../../yaml.ts";

/** A member of an etcd as its machine starts it. */
export interface OwnMember extends FirstMember {
  /** The file with its settings, and what is in it. */
  readonly file: string;
  readonly settings: string;
  /** The nodes of its other members, none where it is alone. */
  readonly others: readonly ControlPlaneNode[];
}

/** The member of a machine, by what it is started with; undefined where there is none. */
export async function readOwnMember(role: EtcdRole, root: string): Promise<OwnMember | undefined> {
  const file = join(root, `/var/lib/static-pods/etcd-${role}/etcd-${role}-config/etcd.yaml`);
  const settings = (await readIfThere(file)) ?? "";
  const found = (parseYaml(settings, file) ?? {}) as Readonly<Record<string, unknown>>;
  const { name, "initial-cluster": cluster, "initial-advertise-peer-urls": peerURL } = found;
  if (typeof name !== "string" || typeof cluster !== "string" || typeof peerURL !== "string") return undefined;
  const others = cluster.split(",").flatMap((part) => (part.endsWith(`=${peerURL}`) ? [] : [nodeOf(part)]));
  return { name, peerURL, token: `etcd-${role}`, file, settings, others };
}

/** Of `name=https://address:port`, where an IPv6 address has brackets. */
function nodeOf(part: string): ControlPlaneNode {
  const at = part.indexOf("=");
  return { name: part.slice(0, at), addresses: [hostOf(part.slice(at + 1))] };
}

/** What it is started with where it is to begin an empty cluster of its own. */
export function foundingSettings({ settings, file, name, peerURL }: OwnMember): string {
  const known = parseYaml(settings, file) as Readonly<Record<string, unknown>>;
  return renderYaml({ ...known, "initial-cluster": `${name}=${peerURL}`, "initial-cluster-state": "new" });
}
