import { constants } from "node:fs";
import { access, readdir, readFile, readlink } from "node:fs/promises";
import { createServer } from "node:net";
import { totalmem } from "node:os";
import { basename, join } from "node:path";
import type { Run } from "../../node-agent/commands.ts";

/** A machine before anything is changed on it. */
export interface Candidate {
  readonly root: string;
  readonly hostName: string;
  readonly systemctl: Run;
  readonly ctr: Run;
  /** Whether gardenadm has been at work here: then ports are taken and folders filled by what it made. */
  readonly isBegun: boolean;
  readonly userId?: number;
  /** In bytes. */
  readonly memory?: number;
}

/** In bytes: what etcd, API server, controllers and a kubelet take at least. */
const LEAST_MEMORY = 1.7 * 1024 ** 3;

/** API server, etcd-main and etcd-events, kubelet, controller manager, scheduler. */
const PORTS = [443, 2379, 2380, 2381, 2382, 2383, 2384, 10250, 10257, 10259];

/** Every reason, a sentence each, why this machine cannot carry a control plane; none where it can. Changes nothing. */
export async function preflightFaults(candidate: Candidate): Promise<string[]> {
  const { userId = process.getuid?.() } = candidate;
  if (userId !== 0) return ["gardenadm runs as user " + String(userId) + ": run it as root, such as by sudo"];
  const faults = await Promise.all([
    systemdFaults(candidate),
    containerdFaults(candidate),
    ...(candidate.isBegun ? [] : [strangerFaults(candidate), portFaults(candidate)]),
  ]);
  return [...hostNameFaults(candidate), ...memoryFaults(candidate), ...faults.flat()];
}

function hostNameFaults({ hostName }: Candidate): string[] {
  if (/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/.test(hostName) && hostName !== "localhost") return [];
  return [
    `the host name ${JSON.stringify(hostName)} cannot name a Node: set another with 'hostnamectl hostname NAME', of at most 63 small letters, digits and hyphens`,
  ];
}

function memoryFaults({ memory = totalmem() }: Candidate): string[] {
  if (memory >= LEAST_MEMORY) return [];
  return [`the machine has ${Math.floor(memory / 1024 ** 2)} MiB of memory: give it at least 1741 MiB`];
}

async function systemdFaults({ root, systemctl }: Candidate): Promise<string[]> {
  const isInit = await readable(join(root, "/run/systemd/system"));
  if (!isInit) return ["systemd is not the init system of this machine: use one that it has booted"];
  return await faultOf(systemctl(["list-units", "--no-legend", "basic.target"]), "systemd does not answer");
}

async function containerdFaults({ root, systemctl, ctr }: Candidate): Promise<string[]> {
  if (!(await readable(join(root, "/run/containerd/containerd.sock"))))
    await systemctl(["start", "containerd.service"]).catch(() => "");
  const what = "containerd does not answer; install it with ctr, and start it with 'systemctl start containerd'";
  return await faultOf(ctr(["version"]), what);
}

async function faultOf(asked: Promise<string>, what: string): Promise<string[]> {
  return await asked.then(
    () => [],
    (error: unknown) => [`${what}: ${error instanceof Error ? error.message : String(error)}`],
  );
}

/** What another Kubernetes has left would be taken for ours. */
async function strangerFaults({ root }: Candidate): Promise<string[]> {
  const filled: string[] = [];
  for (const folder of ["/etc/kubernetes/manifests", "/var/lib/kubelet", "/var/lib/etcd", "/var/lib/etcd-main"]) {
    const entries = await readdir(join(root, folder)).catch(() => []);
    if (entries.length > 0) filled.push(folder);
  }
  if (filled.length === 0) return [];
  return [`another Kubernetes is or was here, in ${filled.join(", ")}: take it away first, or use another machine`];
}

async function portFaults({ root }: Candidate): Promise<string[]> {
  const taken: string[] = [];
  for (const port of PORTS)
    if (await isTaken(port)) taken.push(`${port} (${(await holderOf(root, port)) ?? "unknown"})`);
  return taken.length === 0 ? [] : [`these ports are taken: ${taken.join(", ")}: end the processes that have them`];
}

async function isTaken(port: number): Promise<boolean> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once("error", () => resolve(true));
    server.listen(port, () => server.close(() => resolve(false)));
  });
}

/** The process that listens at a port, as `/proc` knows it. */
async function holderOf(root: string, port: number): Promise<string | undefined> {
  const inodes = new Set<string>();
  const hexadecimal = port.toString(16).toUpperCase().padStart(4, "0");
  for (const table of ["tcp", "tcp6"]) {
    const text = await readFile(join(root, "/proc/net", table), "utf8").catch(() => "");
    for (const line of text.split("\n").slice(1)) {
      const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
      if (local.endsWith(`:${hexadecimal}`) && state === LISTENING) inodes.add(`socket:[${inode}]`);
    }
  }
  for (const pid of (await readdir(join(root, "/proc"))).filter((name) => /^\d+$/.test(name)))
    if (await hasSocket(join(root, "/proc", pid), inodes)) {
      const [program = ""] = (await readFile(join(root, "/proc", pid, "cmdline"), "utf8").catch(() => "")).split("\0");
      return `${basename(program)}, process ${pid}`;
    }
  return undefined;
}

/** TCP_LISTEN, as the kernel's tables have it. */
const LISTENING = "0A";

async function hasSocket(process: string, inodes: ReadonlySet<string>): Promise<boolean> {
  for (const descriptor of await readdir(join(process, "fd")).catch(() => []))
    if (inodes.has(await readlink(join(process, "fd", descriptor)).catch(() => ""))) return true;
  return false;
}

async function readable(path: string): Promise<boolean> {
  return await access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
}
