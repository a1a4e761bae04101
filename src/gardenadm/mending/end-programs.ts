import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { EtcdRole } from "../../components/index.ts";
import { databaseOf } from "../../etcd-data/in-use.ts";
import { dataPlaceOf } from "../../etcd-data/place.ts";

/** A file by which a program of this machine is known from all others: where it is here, and where the program has it. */
interface OwnFile {
  readonly here: string;
  readonly there: string;
}

const CERTIFICATE: OwnFile = {
  here: "/var/lib/static-pods/kube-apiserver/kube-apiserver/tls.crt",
  there: "srv/kubernetes/kube-apiserver/tls.crt",
};

/**
 * Kills the API server of the machine whose `/` is this folder; its kubelet starts it again. While its etcd is away, it lets each
 * request hang for a minute, also those that a kubelet waits for before it starts that etcd, and later it looks for the etcd every two
 * minutes only. Does nothing where there is none.
 */
export async function endApiServer(root: string): Promise<void> {
  await endProgram({ ...CERTIFICATE, here: join(root, CERTIFICATE.here) });
}

/**
 * Kills the etcd of this role of the machine whose `/` is this folder. A kubelet that has begun while no API server answers ends no pod
 * whose manifest is gone; one that is stopped starts none again.
 */
export async function endEtcd(role: EtcdRole, root: string): Promise<void> {
  const { dataDir } = dataPlaceOf(role, root);
  await endProgram({ here: databaseOf(dataDir), there: databaseOf(join("var/etcd/data", basename(dataDir))) });
}

async function endProgram({ here, there }: OwnFile): Promise<void> {
  const own = await fileAt(here);
  if (own === undefined) return;
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) if ((await fileAt(`/proc/${pid}/root/${there}`)) === own) end(Number(pid));
}

/** What tells a file from all others, by whichever path; undefined where there is none, or its process has ended. */
async function fileAt(path: string): Promise<string | undefined> {
  return await stat(path).then(
    ({ dev, ino }) => `${dev}:${ino}`,
    () => undefined,
  );
}

/** It may have ended since. */
function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
