import { access, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBareMachines } from "../../src/local/bare/machines.ts";
import { bootsSystemd } from "../../src/local/bare/probe.ts";
import { findSet } from "../../src/local/bare/set.ts";
import type { Image } from "../../src/local/image/build.ts";
import { machinePaths } from "../../src/local/machine/record.ts";
import { describeProcess } from "../../src/local/process/table.ts";
import { createLogger } from "../../src/log.ts";
import { startBareGround, type BareGround } from "../support/bare-machines.ts";
import { eventually } from "../support/eventually.ts";
import { findRemains } from "../support/machine-remains.ts";
import { buildShellImage } from "../support/shell-image.ts";

const log = createLogger({ name: "test-bare", level: "warn" });
let folder: string;
let ground: BareGround;
let image: Image;

describe.each([
  { init: "systemd", set: "test-bare", pid1: "systemd" },
  { init: "runner", set: "test-bare-runner", pid1: "bash" },
] as const)("bare machines with a $init", ({ init, set, pid1 }) => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "bare-"));
    image = await buildShellImage("perennial.dev/shell:1", folder, log);
    ground = await startBareGround(set, ["a", "b"], { init });
    await greet("a");
    await greet("b");
  });

  afterAll(async () => {
    await ground.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test("new machines run units of their own without a failed unit, containerd, and nothing of Kubernetes", async () => {
    for (const name of ["a", "b"]) {
      expect(await ground.inMachine(name, "systemctl", "is-system-running")).toBe("running");
      expect(await ground.inMachine(name, "cat", "/proc/1/comm", "/etc/hostname")).toBe(`${pid1}\n${name}`);
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
    expect(await greeting("a", "b")).toContain("a machine speaks");
    expect(await greeting("b", "a")).toContain("a machine speaks");
    expect(await greeting("a", await addressOf("b"))).toContain("a machine speaks");
    expect(await ground.inMachine("a", "getent", "hosts", "a")).toContain(await addressOf("a"));
    const { stdout } = await execa("bash", ["-c", reading, "read", await addressOf("a")]);
    expect(stdout).toContain("a machine speaks");
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
      `there is no machine none: make it with 'perennial local machine create none --bare --set ${set}'`,
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

  test("systemctl answers of units as systemd does", async () => {
    expect(await ground.inMachine("a", "bash", "-c", TALK)).toBe(ANSWERS);
  });

  test("a machine loses its power, too, while programs in it are frozen, as runc freezes containers", async () => {
    await ground.inMachine("a", "sh", "-c", startUnit, "start", "frozen", "sleep 1000");
    await ground.inMachine("a", "sh", "-c", FREEZE);
    await ground.machines.cutPower("a");
    expect(await stateOf("a")).toBe("Off");
    await ground.machines.on("a");
  });

  /** What gardenadm, the node agent, and units ask of systemctl, with what it takes for that. */
  const TALK = `
cd /etc/systemd/system
unit() { cat > "$1"; systemctl daemon-reload; }
ask() { systemctl --no-pager --quiet "$@" > /dev/null 2>&1; echo "$1 $?"; }
say() { systemctl "$@" 2>&1; echo "$?"; }
printf 'WORD=given\\n' > /root/words
unit talk.service <<'END'
[Service]
EnvironmentFile=/root/words
EnvironmentFile=-/root/none
ExecStartPre=-/bin/false
ExecStart=/bin/sh -c 'echo "$WORD"; exec sleep 1000'
Restart=always
RestartSec=1
[Install]
WantedBy=multi-user.target
END
unit broken.service <<'END'
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'exit 3'
END
unit once.service <<'END'
[Unit]
Requires=talk.service
After=talk.service
[Service]
Type=oneshot
RemainAfterExit=true
ExecStart=/bin/sh -c 'sleep 0.2; touch /run/once'
END
say is-enabled talk; say is-active talk; ask stop none.service; ask try-restart talk; ask enable talk.service; say is-enabled talk
ask start once; ls /run/once; say is-active talk once
journalctl --unit talk.service --output cat | grep given
first=$(systemctl show talk --property MainPID --value)
kill -9 "$first"; sleep 2; say is-active talk
[ "$(systemctl show talk --property MainPID --value)" != "$first" ] && echo another
since=$(systemctl show talk -p ActiveEnterTimestampMonotonic)
ask start talk.service; [ "$(systemctl show talk -p ActiveEnterTimestampMonotonic)" = "$since" ] && echo same
ask restart talk.service; [ "$(systemctl show talk -p ActiveEnterTimestampMonotonic)" = "$since" ] || echo other
mkdir talk.service.d; printf '[Service]\\nExecStart=\\nExecStart=/bin/sh -c "echo changed; exec sleep 1000"\\n' | unit talk.service.d/10.conf
ask restart talk.service; sleep 0.5; journalctl --unit talk.service --output cat | grep changed; systemctl cat talk | grep -c changed
ask start broken; say is-failed broken; systemctl list-units --failed --plain --no-legend | awk '{ print $1 }'; say is-system-running
ask reset-failed; say is-system-running; ask start --no-block broken
systemctl list-units --no-legend --plain --type=service --state=active,activating 'tal*.service' 'k0s*.service' | awk '{ print $1, $3, $4 }'
ask disable --now talk; say is-enabled talk; say is-active talk once
printf '[Unit]\\nConditionPathExists=/none\\n[Service]\\nExecStart=/bin/sleep 1000\\n' | unit never.service
ask start never; say is-active never
ask mask talk2.service; say is-enabled talk2.service; ask start talk2; ask unmask talk2.service
systemctl stop once; rm -r talk.service* once.service broken.service never.service; systemctl daemon-reload
`;

  const ANSWERS = `disabled
1
inactive
3
stop 5
try-restart 0
enable 0
enabled
0
start 0
/run/once
active
active
0
given
active
0
another
start 0
same
restart 0
other
restart 0
changed
1
start 1
failed
0
broken.service
degraded
1
reset-failed 0
running
0
start 0
talk.service active running
disable 0
disabled
1
inactive
inactive
3
start 0
inactive
3
mask 0
masked
1
start 1
unmask 0`;

  /** By the version of cgroups that the host has; the group is one of the unit's, below which nothing else is. */
  const FREEZE = `
  pid=$(systemctl show --property MainPID --value frozen)
  group=/sys/fs/cgroup/freezer$(sed -n 's/^[0-9]*:freezer://p' /proc/$pid/cgroup)
[ -e /sys/fs/cgroup/freezer ] || group=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/$pid/cgroup)
  if [ -e /sys/fs/cgroup/freezer ]; then
    mkdir "$group/frozen" && echo $pid >"$group/frozen/cgroup.procs" && echo FROZEN >"$group/frozen/freezer.state"
  else mkdir "$group/frozen" && echo $pid >"$group/frozen/cgroup.procs" && echo 1 >"$group/frozen/cgroup.freeze"; fi
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
      expect(await greeting("a", "b")).toContain("a machine speaks");
    }
  });

  test("a machine that was wiped is as new, with its old address and its peers' names", async () => {
    const before = await identityOf("a");
    await ground.machines.wipe("a");
    const { machineID, bootID, address } = await identityOf("a");
    expect(address).toBe(before.address);
    await greet("a");
    expect([machineID, bootID]).not.toEqual(expect.arrayContaining([before.machineID]));
    expect((await ground.machines.exec("a", ["cat", "/root/kept"])).stderr).toContain("No such file");
    expect(await imagesOf("a")).toEqual([]);
    expect(await greeting("a", "b")).toContain("a machine speaks");
  });

  test("a machine whose making was killed is finished by the next one", async () => {
    const making = execa(program, ["local", "machine", "create", "c", "--bare", "--init", init, "--set", set], {
      reject: false,
    });
    await eventually(async () => expect(await stateOf("c")).toBeDefined());
    making.kill("SIGKILL");
    await making;
    await ground.machines.create("c");
    await greet("c");
    expect(await greeting("c", "a")).toContain("a machine speaks");
    expect(await greeting("a", "c")).toContain("a machine speaks");
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
});

test("where there are no packages for a root file system, machines have a runner", async () => {
  const bin = await mkdtemp(join(tmpdir(), "bin-"));
  for (const name of (await readdir("/usr/bin")).filter((each) => !/^(apt|mmdebstrap|dpkg)/.test(each)))
    await symlink(join("/usr/bin", name), join(bin, name));
  const env = { PATH: `${join(import.meta.dirname, "../../node_modules/.bin")}:${bin}:/usr/sbin` };
  const alone = "test-bare-alone";
  const machines = createBareMachines(alone, log);
  try {
    const { stderr, exitCode } = await perennial(["create", "a", "--bare", "--set", alone], { env });
    expect(stderr).toContain("cannot install mmdebstrap on this Linux");
    expect(exitCode, stderr).toBe(0);
    expect(await machines.list()).toMatchObject([{ name: "a", state: "On", init: "runner" }]);
    const again = await perennial(["create", "a", "--bare", "--init", "systemd", "--set", alone]);
    expect(again.stderr).toContain("machine a has a runner already: remove it, or use another name");
  } finally {
    await machines.removeAll();
    await rm(bin, { recursive: true });
  }
});

test("a root file system without a systemd is known as one that does not boot", async () => {
  const image = await mkdtemp(join(tmpdir(), "root-"));
  expect(await bootsSystemd(image)).toBe(false);
  await rm(image, { recursive: true });
  await rm(`${image}.boots`);
});

const program = join(import.meta.dirname, "../../bin/perennial");

async function perennial(
  args: readonly string[],
  options: { readonly input?: string; readonly env?: Readonly<Record<string, string>> } = {},
) {
  return await execa(program, ["local", "machine", ...args], { ...options, reject: false });
}

/** Runs a command line as a unit that boots start, too. */
const startUnit = `
printf '[Service]\\nExecStart=%s\\nRestart=always\\n[Install]\\nWantedBy=multi-user.target\\n' "$2" > "/etc/systemd/system/$1.service"
systemctl daemon-reload
systemctl enable --now "$1"
`;

/** Has the machine say a word on a port, from now on. */
async function greet(name: string): Promise<void> {
  const command = 'socat TCP-LISTEN:2222,fork,reuseaddr "SYSTEM:echo a machine speaks"';
  await ground.inMachine(name, "sh", "-c", startUnit, "start", "greeter", command);
  await ground.inMachine(name, "timeout", "10", "sh", "-c", "until ss -ltn | grep -q :2222; do sleep 0.05; done");
}

/** What a name or an address says on that port. */
const reading = 'read -r -t 5 line < "/dev/tcp/$1/2222"; echo "$line"';

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
