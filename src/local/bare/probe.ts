import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { pid1Command, pid1Environment } from "../machine/boot.ts";
import { createCgroup, removeCgroup, removeEmptyCgroup } from "../machine/cgroup.ts";
import { systemInit, systemScript } from "../machine/system-script.ts";
import { volumes } from "../machine/system.ts";
import { replaceFile } from "../replace-file.ts";

/**
 * Whether this host boots the systemd of a root file system as machines do: tried once for each boot of the host, with a systemd
 * that has one unit, by which it ends. That takes about a second; one that has not ended after a minute has not booted.
 */
export async function bootsSystemd(image: string): Promise<boolean> {
  const boot = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
  const file = `${image}.boots`;
  const [knownBoot, known] = (await readFile(file, "utf8").catch(() => "")).trim().split(" ");
  if (knownBoot === boot) return known === "yes";
  const boots = await tryBoot(image);
  await replaceFile(file, `${boot} ${boots ? "yes" : "no"}\n`);
  return boots;
}

async function tryBoot(image: string): Promise<boolean> {
  const dir = await mkdtemp(join(dirname(image), ".probe-"));
  const cgroup = `/perennial/probe.${process.pid}`;
  try {
    await mkdir(join(dir, "cni"));
    const units = join(dir, "system/upper/etc/systemd/system");
    await mkdir(units, { recursive: true });
    for (const [name, text] of Object.entries(UNITS)) await writeFile(join(units, name), text);
    const script = join(dir, "boot.sh");
    await writeFile(script, systemScript(systemInit));
    const place = { dir, name: "probe", cgroupFiles: await createCgroup(cgroup) };
    const [launch, ...args] = pid1Command(["unshare", "--net"], script);
    const { exitCode } = await execa(launch, args, {
      env: { ...pid1Environment(place), IMAGE: image, VOLUMES: volumes.join(" ") },
      extendEnv: false,
      reject: false,
      stdio: "ignore",
      timeout: 60_000,
      killSignal: "SIGKILL",
    });
    return exitCode === 0;
  } finally {
    await removeCgroup(cgroup);
    await removeEmptyCgroup("/perennial");
    await rm(dir, { recursive: true, force: true });
  }
}

/** All that the systemd starts; its end is success. */
const UNITS = {
  "default.target": "[Unit]\nDefaultDependencies=no\nWants=probe.service\n",
  "probe.service":
    "[Unit]\nDefaultDependencies=no\nSuccessAction=exit-force\n[Service]\nType=oneshot\nExecStart=/bin/true\n",
};
