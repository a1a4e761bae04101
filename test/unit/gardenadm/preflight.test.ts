import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { NodeRole } from "../../../src/api/names.ts";
import { clockFault } from "../../../src/gardenadm/preflight/clock.ts";
import type { Candidate } from "../../../src/gardenadm/preflight/candidate.ts";
import { agentPlacesIn } from "../../../src/gardenadm/machine/agent-places.ts";
import { memoryFaults } from "../../../src/gardenadm/preflight/memory.ts";
import { preflight } from "../../../src/gardenadm/preflight/preflight.ts";
import { bareRoot, versionOf, type BareRoot } from "../../support/bare-root.ts";

let machine: BareRoot;

beforeEach(async () => {
  machine = await bareRoot();
});

afterEach(async () => {
  await machine.remove();
});

/** Ports are those of the machine that runs the tests, whatever it has: they have a file of their own. */
async function faultsOf(change: Partial<Candidate> = {}, role: NodeRole = "control-plane"): Promise<string[]> {
  const { faults } = await preflight({ ...machine.candidate, ...change }, role);
  return faults.filter((fault) => !fault.startsWith("these ports are taken"));
}

test("a bare machine can become a node of either kind", async () => {
  for (const role of ["worker", "control-plane"] as const) expect(await faultsOf({}, role), role).toEqual([]);
});

test("another user than root is told so, and nothing else", async () => {
  expect(await faultsOf({ userId: 1000, hostName: "localhost" })).toEqual([
    "gardenadm runs as user 1000: run it as root, such as by sudo",
  ]);
});

test.each(["localhost", "Node_1", "-a", "a".repeat(64)])("the host name %s cannot name a Node", async (hostName) => {
  expect(await faultsOf({ hostName })).toEqual([
    `the host name "${hostName}" cannot name a Node: set another with 'hostnamectl hostname NAME', of at most 63 small letters, digits and hyphens`,
  ]);
});

test("a worker takes less memory than a control plane", async () => {
  const memory = 1536 * 1024 ** 2;
  expect(await faultsOf({ memory }, "worker")).toEqual([]);
  expect(await faultsOf({ memory }, "control-plane")).toEqual([
    "the machine has 1536 MiB of memory: give it at least 1741 MiB for a control plane",
  ]);
  expect(memoryFaults({ memory: 1024 ** 3 }, "worker")).toEqual([
    "the machine has 1024 MiB of memory: give it at least 1229 MiB for a worker",
  ]);
});

test("a machine without systemd is told so, and one whose systemd does not answer with its words", async () => {
  const systemctl = async (args: readonly string[]) => {
    if (args.includes("basic.target")) throw new Error("Failed to connect to bus");
    return await Promise.resolve("");
  };
  expect(await faultsOf({ systemctl })).toEqual([
    "systemd does not answer; see 'systemctl status': Failed to connect to bus",
  ]);
  expect(await faultsOf({ root: `${machine.root}/var` })).toContain(
    "systemd is not the init system of this machine: use one that it has booted",
  );
});

test("a containerd that is down is started, and one that does not come is said with what helps", async () => {
  const started: string[] = [];
  const systemctl = async (args: readonly string[]) => {
    if (args[0] === "start") started.push(...args.slice(1));
    return await Promise.resolve("");
  };
  const ctr = async () => await Promise.reject(new Error("ctr is not installed"));
  await machine.write({ "/elsewhere/run/systemd/system/a": "", "/elsewhere/var/lib/a": "" });
  expect(await faultsOf({ root: `${machine.root}/elsewhere`, systemctl, ctr })).toEqual([
    "containerd does not answer; install it with ctr, and start it with 'systemctl start containerd': ctr is not installed",
  ]);
  expect(started).toEqual(["containerd.service"]);
});

test.each(["1.5.9", "1.5.0~rc1", "0.9.1"])("containerd %s is too old for kubelets", async (version) => {
  expect(await faultsOf({ ctr: async () => await Promise.resolve(versionOf(version)) })).toEqual([
    `containerd is ${version}, too old for kubelets: install 1.6 or newer`,
  ]);
});

test.each(["1.6.0", "v1.7.24", "2.0.1", "1.10.0-rc.1"])("containerd %s is new enough", async (version) => {
  expect(await faultsOf({ ctr: async () => await Promise.resolve(versionOf(version)) })).toEqual([]);
});

test("a configuration of containerd without what kubelets speak to is named, and a comment in it is not", async () => {
  await machine.write({
    "/etc/containerd/config.toml": '# disabled_plugins = ["cri"]\ndisabled_plugins = [\n  "cri"\n]\n',
  });
  expect(await faultsOf()).toEqual([
    `/etc/containerd/config.toml disables the plugin that kubelets speak to: take "cri" out of disabled_plugins, and run 'systemctl restart containerd'`,
  ]);
  await machine.write({
    "/etc/containerd/config.toml": '# disabled_plugins = ["cri"]\ndisabled_plugins = [\n  # "cri",\n]\n',
  });
  expect(await faultsOf()).toEqual([]);
});

test("a cgroup driver of containerd that is not the kubelet's is named, and the machine's own word for the kubelet counts", async () => {
  await machine.write({ "/etc/containerd/config.toml": "  SystemdCgroup = false\n" });
  expect(await faultsOf()).toEqual([
    "/etc/containerd/config.toml has SystemdCgroup = false, and the kubelet's cgroup driver is systemd: write true there, and run 'systemctl restart containerd'",
  ]);
  await machine.write({ "/etc/containerd/config.toml": "SystemdCgroup = false\n  SystemdCgroup = true # runc's\n" });
  expect(await faultsOf()).toEqual([]);
  await machine.write({ "/etc/containerd/config.toml": "  SystemdCgroup = false\n" });
  await machine.write({ "/etc/kubernetes/kubelet.conf.d/50-host.conf": "cgroupDriver: cgroupfs\n" });
  expect(await faultsOf()).toEqual([]);
});

test("a clock from before this program was written is wrong", async () => {
  expect(await faultsOf({ now: new Date("2024-12-31T23:00:00Z") })).toEqual([
    "the clock of this machine says 2024-12-31T23:00:00.000Z, and what it signs would have expired long ago: set it, such as with 'timedatectl set-ntp true'",
  ]);
});

test("a clock may be five minutes off the cluster's, and no more", () => {
  const at = (minutes: number) => new Date(Date.UTC(2026, 10, 25, 12, minutes));
  expect(clockFault(at(0), at(5))).toBeUndefined();
  expect(clockFault(at(5), at(0))).toBeUndefined();
  expect(clockFault(at(0), at(7))).toMatch(/is 7 minutes ahead of the cluster's, .*timedatectl set-ntp true/);
  expect(clockFault(at(90), at(0))).toContain("is 90 minutes behind the cluster's");
  expect(clockFault(new Date("what is no date"), at(0))).toBeUndefined();
});

test.each([
  ["/etc/kubernetes/manifests/etcd.yaml", "/etc/kubernetes/manifests"],
  ["/var/lib/kubelet/config.yaml", "/var/lib/kubelet"],
  ["/var/lib/etcd/member/wal/0", "/var/lib/etcd"],
  ["/var/lib/etcd-main/member/wal/0", "/var/lib/etcd-main"],
  ["/var/lib/rancher/k3s/data", "/var/lib/rancher"],
  ["/var/snap/microk8s/current/args", "/var/snap/microk8s"],
  ["/etc/kubernetes/admin.conf", "/etc/kubernetes/admin.conf"],
])("%s was left by another Kubernetes, unless gardenadm has begun here", async (file, named) => {
  await machine.write({ [file]: "a" });
  expect(await faultsOf({}, "worker")).toEqual([
    `another Kubernetes is or was here, in ${named}: take it away first, or use another machine`,
  ]);
  expect(await faultsOf({ isBegun: true }, "worker")).toEqual([]);
});

test("folders alone are nothing of another Kubernetes: a disk for etcd's data is mounted on one, and has lost+found", async () => {
  for (const folder of ["/var/lib/etcd-main/data/lost+found", "/var/lib/kubelet/pods"])
    await mkdir(`${machine.root}${folder}`, { recursive: true });
  expect(await faultsOf()).toEqual([]);
});

test("units of another Kubernetes that run are named with the command that ends them", async () => {
  const systemctl = async (args: readonly string[]) =>
    await Promise.resolve(
      args.includes("kubelet.service")
        ? "kubelet.service loaded active running kubelet\nk3s-agent.service loaded activating auto-restart K3s\n"
        : "basic.target loaded active active Basic System\n",
    );
  expect(await faultsOf({ systemctl })).toEqual([
    "another Kubernetes runs here, as kubelet.service, k3s-agent.service: end it with 'systemctl disable --now kubelet.service k3s-agent.service' and take it away, or use another machine",
  ]);
});

const HEADER = "Filename\tType\tSize\tUsed\tPriority\n";
const demands = {
  networks: { pods: "10.184.0.0/16", services: "10.185.0.0/16" },
  failSwapOn: true,
  extensions: 0,
};

test("a machine that swaps is refused where the pool's kubelet would end itself, and warned of where the pool is not known", async () => {
  await machine.write({ "/proc/swaps": HEADER });
  expect(await faultsOf({ demands })).toEqual([]);
  await machine.write({ "/proc/swaps": `${HEADER}/dev/sda2  partition 1 0 -2\n` });
  const sentence =
    "the machine swaps to /dev/sda2, which kubelets refuse: run 'swapoff --all' and take it out of /etc/fstab, " +
    "or write failSwapOn: false into /etc/kubernetes/kubelet.conf.d/50-swap.conf";
  expect(await faultsOf({ demands })).toEqual([sentence]);
  expect(await faultsOf({ demands: { ...demands, failSwapOn: false } })).toEqual([]);
  const { faults, warnings } = await preflight({ ...machine.candidate, isBegun: true }, "worker");
  expect({ faults, warnings }).toEqual({ faults: [], warnings: [sentence] });
});

test("the machine's own files say last whether its kubelet may swap, and one that is broken says nothing", async () => {
  await machine.write({
    "/proc/swaps": `${HEADER}/dev/sda2  partition 1 0 -2\n`,
    "/etc/kubernetes/kubelet.conf.d/10-a.conf": "failSwapOn: true\n",
    "/etc/kubernetes/kubelet.conf.d/50-b.conf": "failSwapOn: false\n",
    "/etc/kubernetes/kubelet.conf.d/60-c.conf": "failSwapOn: [\n",
    "/etc/kubernetes/kubelet.conf.d/70-d.yaml": "failSwapOn: true\n",
  });
  expect(await faultsOf({ demands })).toEqual([]);
});

const STUB = "# made by systemd-resolved\nnameserver 127.0.0.53\noptions edns0\n";

async function warningsOf(): Promise<readonly string[]> {
  const { warnings } = await preflight({ ...machine.candidate, isBegun: true }, "worker");
  return warnings;
}

test("a machine that resolves names by itself is warned that its pods cannot, and told of the file that they can use", async () => {
  await machine.write({ "/etc/resolv.conf": STUB });
  const sentence =
    "pods ask the name servers of /etc/resolv.conf, and do not reach 127.0.0.53, which is this machine for itself: ";
  expect(await warningsOf()).toEqual([
    `${sentence}name servers elsewhere there, or in a file that resolvConf in /etc/kubernetes/kubelet.conf.d/50-resolver.conf names`,
  ]);
  await machine.write({ "/run/systemd/resolve/resolv.conf": "nameserver 192.0.2.53\n" });
  expect(await warningsOf()).toEqual([
    `${sentence}write resolvConf: /run/systemd/resolve/resolv.conf into /etc/kubernetes/kubelet.conf.d/50-resolver.conf`,
  ]);
  await machine.write({
    "/etc/kubernetes/kubelet.conf.d/50-resolver.conf": "resolvConf: /run/systemd/resolve/resolv.conf\n",
  });
  expect(await warningsOf()).toEqual([]);
});

test("a machine whose resolver is elsewhere, or that has none, is warned of nothing", async () => {
  expect(await warningsOf()).toEqual([]);
  await machine.write({ "/etc/resolv.conf": "nameserver 192.0.2.53\nnameserver 2001:db8::53\n" });
  expect(await warningsOf()).toEqual([]);
});

test("a node of this or another cluster is told how it is taken out, and not to end its own kubelet", async () => {
  const running = { systemctl: async () => await Promise.resolve("kubelet.service loaded active running") };
  expect(await faultsOf(running)).toEqual([expect.stringContaining("another Kubernetes runs here")]);
  const { pool } = agentPlacesIn(machine.root);
  await mkdir(dirname(pool), { recursive: true });
  await writeFile(pool, "");
  expect(await faultsOf(running)).toEqual([expect.stringContaining("'gardenadm reset' takes it out")]);
  expect(await faultsOf({ ...running, isBegun: true })).toEqual([]);
});
