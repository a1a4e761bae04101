import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { BootInstructions } from "./init.ts";
import type { ProcessIdentity } from "./process.ts";
import type { MachinePaths } from "./record.ts";

/** Directories, besides those of the overlays, in which each machine has its own content at the same path. */
const privateDirectories = [
  ...["/var/lib/kubelet", "/var/lib/containerd", "/var/lib/cni", "/var/lib/kube-proxy", "/var/lib/perennial-machine"],
  ...["/var/log/pods", "/var/log/containers", "/etc/cni/net.d"],
  ...["/var/lib/gardener-node-agent", "/var/lib/gardener-user", "/var/lib/sshd-ensurer"],
  ...["/var/lib/ca-certificates-local", "/var/lib/ssl"],
];

/**
 * Starts PID 1 of the machine, which outlives this process, in the network namespace and the cgroups made before.
 * Returns once it runs; throws with what it said if it does not within ten seconds.
 */
export async function bootMachine(
  paths: MachinePaths,
  cgroupFiles: readonly string[],
  instructions: BootInstructions,
): Promise<ProcessIdentity> {
  const boot = join(paths.dir, "boot.json");
  await mkdir(paths.logDir, { recursive: true });
  await writeFile(boot, JSON.stringify(instructions), { mode: 0o600 });
  const { name, gateway } = instructions.facts;
  return await startPid1(paths, cgroupFiles, {
    name,
    script: bootScript,
    env: {
      NAMESERVER: gateway,
      PRIVATE_DIRECTORIES: privateDirectories.join(" "),
      RUNNER: [process.execPath, ...runnerFlags, runnerFile(), boot].join("\n"),
    },
  });
}

/** What becomes PID 1 of a machine: a script that notes its identity in `$MACHINE_DIR/pid`, and what it finds in its environment. */
export interface FirstProgram {
  readonly name: string;
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Starts the script as PID 1 of namespaces of its own; returns once it has noted that it runs. Throws with what it said if it
 * does not within ten seconds.
 */
export async function startPid1(
  paths: MachinePaths,
  cgroupFiles: readonly string[],
  { name, script, env }: FirstProgram,
): Promise<ProcessIdentity> {
  await rm(paths.pid, { force: true });
  await mkdir(paths.logDir, { recursive: true });
  const scriptFile = join(paths.dir, "boot.sh");
  await writeFile(scriptFile, script);
  const logFile = join(paths.logDir, "machine.log");
  const log = openSync(logFile, "a");
  const [launch, ...args] = pid1Command(["nsenter", `--net=/run/netns/${paths.netns}`], scriptFile);
  const launcher = spawn(launch, args, {
    detached: true,
    stdio: ["ignore", log, log],
    cwd: "/",
    env: { ...pid1Environment({ dir: paths.dir, name, cgroupFiles }), ...env },
  });
  closeSync(log);
  launcher.unref();
  const exited = once(launcher, "exit").then(() => "exited" as const);
  for (const deadline = Date.now() + 10_000; Date.now() < deadline;) {
    const pid1 = await readPid1(paths);
    if (pid1 !== undefined) return pid1;
    if ((await Promise.race([exited, sleep(10)])) === "exited") break;
  }
  throw new Error(`cannot start machine ${name}: ${await lastLine(logFile)} (see ${logFile})`);
}

/** What runs a script as PID 1 of namespaces of its own; `network` enters or makes that of the network. */
export const pid1Command = (network: readonly string[], scriptFile: string): readonly [string, ...string[]] => [
  ...(["/bin/bash", "-c", launchScript, "launch", ...network] as const),
  ...["unshare", "--pid", "--fork", "--kill-child", "--mount", "--uts", "--ipc", "--propagation", "private"],
  ...["/bin/bash", scriptFile],
];

/** What all such scripts find in their environment. */
export const pid1Environment = ({ dir, name, cgroupFiles }: Pid1Place): Readonly<Record<string, string>> => ({
  PATH: "/opt/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/root",
  LANG: "C.UTF-8",
  CGROUP_FILES: cgroupFiles.join(" "),
  MACHINE_DIR: dir,
  MACHINE_NAME: name,
});

interface Pid1Place {
  readonly dir: string;
  readonly name: string;
  readonly cgroupFiles: readonly string[];
}

/** PID 1 of the machine as its boot wrote it down, alive or not; undefined before that. */
export async function readPid1({ pid }: MachinePaths): Promise<ProcessIdentity | undefined> {
  const text = await readFile(pid, "utf8").catch(() => "");
  const [number, startTime] = text.trim().split(" ");
  return number === undefined || startTime === undefined ? undefined : { pid: Number(number), startTime };
}

/** Small heaps: a runner does next to nothing, and every machine has one. */
const runnerFlags = ["--max-old-space-size=64", "--max-semi-space-size=1", "--disable-warning=ExperimentalWarning"];

/** Next to this file, as TypeScript or compiled. */
function runnerFile(): string {
  return fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "init.ts" : "init.js", import.meta.url));
}

async function lastLine(file: string): Promise<string> {
  return (await readFile(file, "utf8")).trim().split("\n").at(-1) ?? "";
}

/** Joins the cgroups, with as many open files as we may have, as the process that then becomes the machine. */
const launchScript = `
set -eu
ulimit -n 1048576 2> /dev/null || ulimit -n "$(ulimit -Hn)"
for file in $CGROUP_FILES; do echo $$ > "$file"; done
unset CGROUP_FILES
exec "$@"
`;

/**
 * PID 1: mounts what is the machine's own, starts the runner, reaps orphans while it waits for it, and ends with it,
 * which the kernel takes as the order to kill everything in the machine. /proc is the host's until the machine's own
 * is mounted, so /proc/self tells PID 1 its number outside.
 */
const bootScript = `
set -eu
read -r stat < /proc/self/stat
set -- \${stat##*) }
identity="\${stat%% *} \${20}"

root=$MACHINE_DIR/root
for dir in /etc /opt /usr/libexec; do
  [ -d $dir ] || continue
  mkdir -p "$root$dir" "$MACHINE_DIR/work$dir"
  mount -t overlay overlay -o "lowerdir=$dir,upperdir=$root$dir,workdir=$MACHINE_DIR/work$dir" "$dir"
done
for dir in $PRIVATE_DIRECTORIES; do
  source=$root$dir
  [ "$dir" != /etc/cni/net.d ] || source=$MACHINE_DIR/cni
  mkdir -p "$source" "$dir"
  mount --bind "$source" "$dir"
done
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/lock /run/cgroup /run/shields
mount --rbind /sys/fs/cgroup /run/cgroup
mount -t sysfs sysfs /sys
mount --rbind /run/cgroup /sys/fs/cgroup
umount -R /run/cgroup
mount -t proc proc /proc

# The kubelet insists on these for the whole host. It finds them as it wants them, and the host keeps its own.
shield() {
  [ -e "/proc/sys/$1" ] || return 0
  echo "$2" > "/run/shields/\${1//\\//.}"
  mount --bind "/run/shields/\${1//\\//.}" "/proc/sys/$1"
}
shield vm/overcommit_memory 1
shield vm/panic_on_oom 0
shield kernel/panic 10
shield kernel/panic_on_oops 1
shield kernel/keys/root_maxkeys 1000000
shield kernel/keys/root_maxbytes 25000000

echo "$MACHINE_NAME" > /proc/sys/kernel/hostname
rm -f /etc/resolv.conf /etc/hosts /etc/hostname
echo "nameserver $NAMESERVER" > /etc/resolv.conf
echo "$MACHINE_NAME" > /etc/hostname
printf '127.0.0.1 localhost\\n127.0.1.1 %s\\n' "$MACHINE_NAME" > /etc/hosts
mount --make-rshared /

echo "$identity" > "$MACHINE_DIR/pid.new"
mv "$MACHINE_DIR/pid.new" "$MACHINE_DIR/pid"
mapfile -t runner <<< "$RUNNER"
unset MACHINE_DIR PRIVATE_DIRECTORIES NAMESERVER RUNNER
"\${runner[@]}" &
trap 'kill $! || :' TERM INT
wait $! || echo "the machine's runner ended with $?: powering off"
`;
