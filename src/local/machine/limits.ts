import { readFile, writeFile } from "node:fs/promises";

/** Limits that are root's for all machines of the host together, and too low for more than a few kubelets by default. */
const limits: Readonly<Record<string, number>> = {
  "fs/inotify/max_user_instances": 8192,
  "fs/inotify/max_user_watches": 524_288,
  "kernel/pid_max": 4_194_304,
};

/** Raises the host's limits that machines share, and never lowers one. They stay so until the host's next boot. */
export async function raiseHostLimits(): Promise<void> {
  for (const [name, wanted] of Object.entries(limits)) {
    const file = `/proc/sys/${name}`;
    if (Number(await readFile(file, "utf8")) < wanted) await writeFile(file, String(wanted));
  }
}
