import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { EtcdRole } from "../../components/index.ts";
import type { FirstMember } from "../../etcd-data/restore-data.ts";
import { parseYaml } from "../../parsing.ts";

/** A member of an etcd as its machine starts it. */
export interface LoneMember extends FirstMember {
  /** The file with its settings, and what is in it. */
  readonly file: string;
  readonly settings: string;
}

/** The member that is alone in its etcd, by what its machine starts it with; undefined where it is one of several, or there is none. */
export async function readLoneMember(role: EtcdRole, root: string): Promise<LoneMember | undefined> {
  const file = join(root, `/var/lib/static-pods/etcd-${role}/etcd-${role}-config/etcd.yaml`);
  const settings = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return "";
  });
  const found = (parseYaml(settings, file) ?? {}) as Readonly<Record<string, unknown>>;
  const { name, "initial-cluster": cluster, "initial-advertise-peer-urls": peerURL } = found;
  if (typeof name !== "string" || typeof cluster !== "string" || typeof peerURL !== "string") return undefined;
  return cluster.includes(",") ? undefined : { name, peerURL, token: `etcd-${role}`, file, settings };
}

/** What it is started with where it is to begin an empty cluster. */
export const foundingSettings = ({ settings }: LoneMember): string =>
  settings.replace(/^initial-cluster-state: existing$/m, "initial-cluster-state: new");
