import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** A file that only this machine's API server has where it looks for it. */
const CERTIFICATE = {
  here: "/var/lib/static-pods/kube-apiserver/kube-apiserver/tls.crt",
  there: "srv/kubernetes/kube-apiserver/tls.crt",
};

/**
 * Kills the API server of the machine whose `/` is this folder; its kubelet starts it again. While its etcd is away, it lets each
 * request hang for a minute, also those that a kubelet waits for before it starts that etcd, and later it looks for the etcd every two
 * minutes only. Does nothing where there is none.
 */
export async function endApiServer(root: string): Promise<void> {
  const own = await fileAt(join(root, CERTIFICATE.here));
  if (own === undefined) return;
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) if ((await fileAt(`/proc/${pid}/root/${CERTIFICATE.there}`)) === own) end(Number(pid));
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
