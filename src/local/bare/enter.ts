import type { ProcessIdentity } from "../machine/process.ts";

/** What is run in a machine. */
export interface EnterOptions {
  readonly command: readonly string[];
  /** Gives it a terminal of the machine's own, which takes that of the caller. */
  readonly terminal?: boolean;
}

/** What runs a command in all namespaces and in the cgroup of the machine with this PID 1, in root's home and environment. */
export function enterCommand(
  { pid }: Pick<ProcessIdentity, "pid">,
  cgroup: string,
  { command, terminal = false }: EnterOptions,
): readonly [string, ...string[]] {
  const typed = command.map(quote).join(" ");
  const inside = terminal ? ["script", "--quiet", "--return", "--command", typed, "/dev/null"] : command;
  const namespaces = ["--mount", "--uts", "--ipc", "--net", "--pid", "--cgroup"];
  return [
    ...(["/bin/bash", "-c", joining, "enter", `${cgroup}/init`] as const),
    ...["nsenter", `--target=${pid}`, ...namespaces, "--"],
    ...["/usr/bin/env", "--ignore-environment", "--chdir=/root", ...environment(), ...inside],
  ];
}

/** As root finds it after logging in. */
function environment(): string[] {
  const { TERM } = process.env;
  return [
    "HOME=/root",
    "USER=root",
    "LANG=C.UTF-8",
    "PATH=/opt/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    ...(TERM === undefined ? [] : [`TERM=${TERM}`]),
  ];
}

/** What dies with the machine belongs to its cgroup: beside the units, in a group that no unit has. */
const joining = `
set -eu
cgroup=$1; shift
for root in /sys/fs/cgroup/*$cgroup /sys/fs/cgroup$cgroup; do
  [ -w "$root/cgroup.procs" ] || continue
  mkdir -p "$root/shell"
  for file in cpuset.cpus cpuset.mems; do
    [ ! -e "$root/shell/$file" ] || cat "$root/$file" > "$root/shell/$file"
  done
  echo $$ > "$root/shell/cgroup.procs"
done
exec "$@"
`;

const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
