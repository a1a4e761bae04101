import { access, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findSet } from "../../src/local/bare/set.ts";
import type { Image } from "../../src/local/image/build.ts";
import { machinePaths } from "../../src/local/machine/record.ts";
import { describeProcess } from "../../src/local/process/table.ts";
import { createLogger } from "../../src/log.ts";
import { startBareGround, type BareGround } from "../support/bare-machines.ts";
import { eventually } from "../support/eventually.ts";
import { findRemains } from "../support/machine-remains.ts";
import { buildShellImage } from "../support/shell-image.ts";

const set = "test-bare";
const log = createLogger({ name: set, level: "warn" });
let folder: string;
let ground: BareGround;
let image: Image;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bare-"));
  image = await buildShellImage("perennial.dev/shell:1", folder, log);
  ground = await startBareGround(set, ["a", "b"]);
});

afterAll(async () => {
  await ground.stop();
  await rm(folder, { recursive: true, force: true });
});

test("new machines run a systemd of their own without a failed unit, containerd, and nothing of Kubernetes", async () => {
  for (const name of ["a", "b"]) {
    expect(await ground.inMachine(name, "systemctl", "is-system-running")).toBe("running");
    expect(await ground.inMachine(name, "cat", "/proc/1/comm", "/etc/hostname")).toBe(`systemd\n${name}`);
    expect(await ground.inMachine(name, "ctr", "version")).toContain("Server:");
    expect(await imagesOf(name)).toEqual([]);
    expect((await ground.machines.exec(name, ["which", "kubelet", "kubeadm", "kubectl"])).stdout).toBe("");
  }
  expect((await identityOf("a")).machineID).toMatch(/^[0-9a-f]{32}$/);
  expect(await identityOf("a")).not.toMatchObject({ machineID: (await identityOf("b")).machineID });
  const settings = await ground.inMachine("a", "cat", "/etc/kubernetes/kubelet.conf.d/50-machine.conf");
  expect(settings).toContain("failSwapOn: false");
});

test("machines reach each other and themselves by name, and the host reaches them by address", async () => {
  expect(await greeting("a", "b")).toContain("SSH-2.0");
  expect(await greeting("b", "a")).toContain("SSH-2.0");
  expect(await greeting("a", await addressOf("b"))).toContain("SSH-2.0");
  expect(await ground.inMachine("a", "getent", "hosts", "a")).toContain(await addressOf("a"));
  const { stdout } = await execa("bash", ["-c", reading, "read", await addressOf("a")]);
  expect(stdout).toContain("SSH-2.0");
});

test("a command is given its input, and answers its exit code and both of what it wrote", async () => {
  const { machines } = ground;
  expect(await machines.exec("a", ["sh", "-c", "cat; pwd; echo wrong >&2; exit 7"], { stdin: "given\n" })).toEqual({
    code: 7,
    stdout: "given\n/root",
    stderr: "wrong",
  });
  expect(await machines.exec("a", ["sh", "-c", "kill -TERM $$"])).toMatchObject({ code: 128 + 15 });
  await expect(machines.exec("none", ["true"])).rejects.toThrow(
    "there is no machine none: make it with 'perennial local machine create none --bare --set test-bare'",
  );
});

test("the command line runs a command with its own input, and ends with its exit code", async () => {
  const shell = (...command: readonly string[]) =>
    perennial(["shell", "a", "--set", set, "--", ...command], { input: "through a pipe" });
  expect(await shell("sh", "-c", "cat > /root/piped; exit 42")).toMatchObject({ exitCode: 42 });
  expect(await shell("cat", "/root/piped")).toMatchObject({ exitCode: 0, stdout: "through a pipe" });
  const { stdout } = await perennial(["list", "--set", set, "--output", "json"]);
  expect(JSON.parse(stdout)).toEqual(await ground.machines.list());
});

test("a machine runs containers of an image that it was given", async () => {
  await ground.machines.loadImages("a", [image]);
  expect(await imagesOf("a")).toEqual([image.name]);
  expect(await imagesOf("b")).toEqual([]);
  const run = ["ctr", "--namespace", "k8s.io", "run", "--rm", image.name, "one"];
  const reading = 'read -r line < /etc/nsswitch.conf; echo "$line"';
  expect(await ground.inMachine("a", ...run, "/bin/sh", "-c", reading)).toBe("hosts: files dns");
});

test("a machine loses its power, too, while programs in it are frozen, as runc freezes containers", async () => {
  await ground.inMachine("a", "systemd-run", "--unit=frozen", "sleep", "1000");
  await ground.inMachine("a", "sh", "-c", FREEZE);
  await ground.machines.cutPower("a");
  expect(await stateOf("a")).toBe("Off");
  await ground.machines.on("a");
});

/** By the version of cgroups that the host has; the group is one of the unit's, below which nothing else is. */
const FREEZE = `
pid=$(systemctl show --property MainPID --value frozen)
group=/sys/fs/cgroup/freezer$(sed -n 's/^[0-9]*:freezer://p' /proc/$pid/cgroup)
if [ -e /sys/fs/cgroup/freezer ]; then
  mkdir "$group/frozen" && echo $pid >"$group/frozen/cgroup.procs" && echo FROZEN >"$group/frozen/freezer.state"
else systemctl freeze frozen; fi
`;

test("a machine that was switched off has its files, its containerd's images and its identity again, but another boot id", async () => {
  const before = await identityOf("a");
  await ground.inMachine("a", "sh", "-c", "echo kept > /root/kept; touch /run/volatile");
  for (const off of ["shutDown", "cutPower"] as const) {
    const last = await identityOf("a");
    await ground.machines[off]("a");
    expect(await stateOf("a")).toBe("Off");
    await expect(ground.machines.exec("a", ["true"])).rejects.toThrow("machine a is off: switch it on with");
    await ground.machines.on("a");
    expect(await ground.inMachine("a", "cat", "/root/kept")).toBe("kept");
    expect((await ground.machines.exec("a", ["ls", "/run/volatile"])).code).not.toBe(0);
    expect(await imagesOf("a")).toEqual([image.name]);
    const { bootID, ...same } = await identityOf("a");
    expect(before).toMatchObject(same);
    expect(bootID).not.toBe(last.bootID);
    expect(await greeting("a", "b")).toContain("SSH-2.0");
  }
});

test("a machine that was wiped is as new, with its old address and its peers' names", async () => {
  const before = await identityOf("a");
  await ground.machines.wipe("a");
  const { machineID, bootID, address } = await identityOf("a");
  expect(address).toBe(before.address);
  expect([machineID, bootID]).not.toEqual(expect.arrayContaining([before.machineID]));
  expect((await ground.machines.exec("a", ["cat", "/root/kept"])).stderr).toContain("No such file");
  expect(await imagesOf("a")).toEqual([]);
  expect(await greeting("a", "b")).toContain("SSH-2.0");
});

test("a machine whose making was killed is finished by the next one", async () => {
  const making = execa(program, ["local", "machine", "create", "c", "--bare", "--set", set], { reject: false });
  await eventually(async () => expect(await stateOf("c")).toBeDefined());
  making.kill("SIGKILL");
  await making;
  await ground.machines.create("c");
  expect(await greeting("c", "a")).toContain("SSH-2.0");
  expect(await greeting("a", "c")).toContain("SSH-2.0");
});

test("nothing is left of a removed machine, not what its containers ran either, and its peers forget its name", async () => {
  await ground.machines.loadImages("c", [image]);
  const run = ["ctr", "--namespace", "k8s.io", "run", "--detach", image.name, "sleeper", "/bin/sleep", "1000"];
  await ground.inMachine("c", ...run);
  await ground.inMachine("c", "sh", "-c", "sleep 1000 > /dev/null 2>&1 & echo left");
  const environment = (await findSet(set)) ?? expect.fail("the set is gone");
  const members = await membersOf(machinePaths(environment, "c").cgroup);
  expect(members.length).toBeGreaterThan(3);
  await ground.machines.remove("c");
  await ground.machines.remove("c");
  expect(await findRemains(environment, "c")).toEqual([]);
  for (const pid of members) expect(await describeProcess(pid)).toBeUndefined();
  expect((await ground.machines.exec("a", ["getent", "hosts", "c"])).code).toBe(2);
  expect((await ground.machines.list()).map(({ name, state }) => `${name} ${state}`)).toEqual(["a On", "b On"]);
});

test("with its last machine a set leaves the host, its network included", async () => {
  const environment = (await findSet(set)) ?? expect.fail("the set is gone");
  expect(await findRemains(environment)).not.toEqual([]);
  expect(await perennial(["remove", "--all", "--set", set])).toMatchObject({ stdout: "a is gone\nb is gone" });
  expect(await findRemains(environment)).toEqual([]);
  await expect(access(environment.stateDir)).rejects.toThrow("ENOENT");
  expect(await ground.machines.list()).toEqual([]);
});

const program = join(import.meta.dirname, "../../bin/perennial");

async function perennial(args: readonly string[], options: { readonly input?: string } = {}) {
  return await execa(program, ["local", "machine", ...args], { ...options, reject: false });
}

/** What a name or an address says on the port of SSH. */
const reading = 'read -r -t 5 line < "/dev/tcp/$1/22"; echo "$line"';

async function greeting(machine: string, peer: string): Promise<string> {
  return await ground.inMachine(machine, "bash", "-c", reading, "read", peer);
}

async function identityOf(name: string) {
  const read = async (file: string) => await ground.inMachine(name, "cat", file);
  const [machineID, bootID] = [await read("/etc/machine-id"), await read("/proc/sys/kernel/random/boot_id")];
  return { machineID, bootID, address: await addressOf(name) };
}

const find = async (name: string) => (await ground.machines.list()).find((machine) => machine.name === name);
const stateOf = async (name: string) => (await find(name))?.state;
const addressOf = async (name: string) => (await find(name))?.address ?? expect.fail(`${name} has no address`);

async function imagesOf(name: string): Promise<string[]> {
  const listed = await ground.inMachine(name, "ctr", "--namespace", "k8s.io", "images", "list", "--quiet");
  // The kubelet's half of containerd gives each a second name, its digest.
  return listed.split("\n").filter((line) => line !== "" && !line.startsWith("sha256:"));
}

/** The processes of a cgroup and of all below it, by their numbers on the host. */
async function membersOf(cgroup: string): Promise<number[]> {
  const { stdout } = await execa("find", ["/sys/fs/cgroup", "-path", `*${cgroup}/*`, "-name", "cgroup.procs"]);
  const texts = await Promise.all(stdout.split("\n").map((file) => readFile(file, "utf8")));
  return [...new Set(texts.join("").split("\n").filter(Boolean).map(Number))];
}
