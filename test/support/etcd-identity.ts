import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { dataPlaceOf } from "../../src/etcd-data/place.ts";
import { LOG_FILE_NAME, readLog, varintOf } from "../../src/etcd-data/write-ahead-log.ts";
import { ETCDS } from "../../src/components/index.ts";

/**
 * Which etcds the machine whose `/` is this folder has data of, by name: the ids of cluster and member, and when the data were begun.
 * A single member that is founded anew gets the same ids; it begins another log.
 */
export async function etcdIdentity(root: string): Promise<Readonly<Record<string, string>>> {
  const found = await Promise.all(
    ETCDS.map(async (role) => {
      const log = join(dataPlaceOf(role, root).dataDir, "member/wal");
      const [first] = (await readdir(log).catch(() => [])).filter((name) => LOG_FILE_NAME.test(name)).sort();
      if (first === undefined) return [];
      const { cluster, member } = await idsIn(join(log, first));
      const { birthtimeMs } = await stat(log);
      const begun = new Date(birthtimeMs).toISOString();
      return [[`etcd-${role}`, `cluster ${cluster}, member ${member}, begun ${begun}`] as const];
    }),
  );
  return Object.fromEntries(found.flat());
}

/** In hexadecimal, as etcd writes them; each file of a log begins with them. */
async function idsIn(file: string): Promise<{ readonly cluster: string; readonly member: string }> {
  await using handle = await open(file);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(4096), 0, 4096, 0);
  let ids = { cluster: "none", member: "none" };
  readLog(buffer.subarray(0, bytesRead), 0, ({ type, data }) => {
    if (type === METADATA) ids = { member: numberAt(data, 1), cluster: numberAt(data, 2) };
  });
  return ids;
}

/** The type of the record whose fields are the ids of the member (1) and of its cluster (2). */
const METADATA = 1;

function numberAt(fields: Buffer, wanted: number): string {
  for (let at = 0; at < fields.length;) {
    const value = varintOf(fields, at + 1);
    if (value === undefined) break;
    if (fields[at] === wanted << 3) return value.value.toString(16);
    at = value.end;
  }
  return "none";
}
