import { cp, mkdir, realpath, symlink } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startPid1 } from "./boot.ts";
import type { ProcessIdentity } from "./process.ts";
import { requireProgram, cniPlugins } from "./programs.ts";
import type { MachinePaths } from "./record.ts";
import { initScript, runnerInit } from "./runner-script.ts";
import { systemScript } from "./system-script.ts";
import { volumes, type SystemFile } from "./system.ts";

/** What a machine with a runner lies over: programs and libraries of the host. */
export const hostPrograms = "/usr";

/**
 * Boots a machine whose PID 1 has a runner start its units. What it changed at earlier boots is there; below /usr it is an overlay
 * over the host's.
 */
export async function bootRunner(
  paths: MachinePaths,
  cgroupFiles: readonly string[],
  name: string,
): Promise<ProcessIdentity> {
  const suffix = extname(fileURLToPath(import.meta.url));
  const flags = ["--max-semi-space-size=1", "--disable-warning=ExperimentalWarning"];
  const env = {
    IMAGE: hostPrograms,
    VOLUMES: volumes.join(" "),
    NODE: process.execPath,
    NODE_FLAGS: flags.join(" "),
    SOURCES: fileURLToPath(new URL("..", import.meta.url)),
    SUFFIX: suffix,
    ENTRYPOINT: fileURLToPath(new URL("../../../deploy/images/machine/entrypoint", import.meta.url)),
    INIT: initScript(["/run/runner/node", "--max-old-space-size=64", ...flags, `/run/runner/runner/main${suffix}`]),
  };
  return await startPid1(paths, cgroupFiles, { name, script: systemScript(runnerInit), env });
}

/**
 * Gives an empty disk the host's settings for its programs: users, authorities, libraries. What is the host's only stays there:
 * its names, its units, its containerd, its kernel's settings, and its Kubernetes.
 */
export async function copyHostSettings({ dir }: MachinePaths): Promise<void> {
  const folder = join(dir, "system/upper/etc");
  await mkdir(folder, { recursive: true });
  await mkdir(join(dir, "system/upper/opt/cni"), { recursive: true });
  await symlink(cniPlugins, join(dir, "system/upper/opt/cni/bin"));
  await cp("/etc", folder, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !NOT_COPIED.some((path) => source === path || source.startsWith(`${path}/`)),
  });
}

const NOT_COPIED = [
  ...["/etc/hostname", "/etc/hosts", "/etc/resolv.conf", "/etc/machine-id", "/etc/fstab", "/etc/crontab", "/etc/ssh"],
  ...["/etc/systemd", "/etc/init.d", "/etc/cron.d", "/etc/cron.daily", "/etc/sysctl.conf", "/etc/sysctl.d"],
  ...["/etc/containerd", "/etc/cni", "/etc/kubernetes", "/etc/rancher"],
];

/** What is on such a disk beside that, and beside what a machine is known by. */
export async function runnerFiles(): Promise<readonly SystemFile[]> {
  return [
    { path: "/etc/machine-id", text: "" },
    { path: "/etc/environment", text: "" },
    {
      path: "/usr/local/lib/systemd/system/containerd.service",
      text: containerdUnit(await machineProgram("containerd")),
    },
    { path: "/etc/systemd/system/sshd-ensurer.service.d/machine.conf", text: withoutSsh },
    { path: "/usr/local/lib/systemd/system/systemd-sysctl.service", text: sysctlUnit },
  ];
}

/** Where machines, too, find a program of the host's; throws where they do not. */
async function machineProgram(name: string): Promise<string> {
  const path = await realpath(await requireProgram(name));
  if (path.startsWith(`${hostPrograms}/`)) return path;
  throw new Error(
    `cannot make a machine with a runner: ${name} is at ${path}, and what it has of the host is below ${hostPrograms}`,
  );
}

/** Restarting it leaves containers alone. It has started when it answers, as systemd would be told. */
const containerdUnit = (program: string) => `[Unit]
Description=containerd container runtime

[Service]
ExecStart=${program}
ExecStartPost=/bin/sh -c 'tries=0; until ctr version >/dev/null 2>&1; do tries=$((tries + 1)); [ $tries -lt 300 ] || exit 1; sleep 0.1; done'
KillMode=process
Restart=always
RestartSec=5

[Install]
WantedBy=multi-user.target
`;

/** The node's unit that keeps an SSH server running has none to keep here. */
const withoutSsh = `[Unit]
ConditionPathExists=/etc/ssh/sshd_config
`;

const sysctlUnit = `[Unit]
Description=Applies kernel settings

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c 'for file in /etc/sysctl.d/*.conf; do [ ! -e "$file" ] || sysctl --quiet --ignore --load "$file"; done'

[Install]
WantedBy=sysinit.target
`;
