import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HOST_SETTINGS } from "../../../src/components/index.ts";
import type { MachineConfig } from "../../../src/node-agent/wanted.ts";
import { fakeSystem, type FakeSystem } from "../../support/fake-systemctl.ts";
import { applied, killed } from "../../support/machine-world.ts";
import { seconds } from "../../support/patience.ts";

const CONFIG = "/var/lib/kubelet/config/kubelet";
const CPUS = "/var/lib/kubelet/cpu_manager_state";
const MEMORY = "/var/lib/kubelet/memory_manager_state";
const HOST = `${HOST_SETTINGS}/50-host.conf`;

let dir: string;
let system: FakeSystem;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "perennial-kubelet-state-"));
  system = await fakeSystem(dir);
});
afterEach(async () => await rm(dir, { recursive: true }));

const withKubelet = (settings: object, content = "kubelet"): MachineConfig => {
  const data = JSON.stringify({ kind: "KubeletConfiguration", kubeReserved: { cpu: "80m" }, ...settings });
  return {
    spec: {
      files: [{ path: CONFIG, permissions: 0o600, content: { inline: { encoding: "", data } } }],
      units: [{ name: "kubelet.service", enable: true, content, filePaths: [CONFIG] }],
    },
  };
};
const none = withKubelet({});
const fixed = withKubelet({ cpuManagerPolicy: "static" });
const more = withKubelet({ cpuManagerPolicy: "static", kubeReserved: { cpu: "2" } });

async function put(path: string, content: object): Promise<void> {
  await mkdir(dirname(join(dir, "root", path)), { recursive: true });
  await writeFile(join(dir, "root", path), JSON.stringify(content));
}
/** What kubelets of these policies have left. */
async function left(cpus: string, memory = "None"): Promise<void> {
  await put(CPUS, { policyName: cpus, defaultCpuSet: "0-3", checksum: 1 });
  await put(MEMORY, { policyName: memory, machineState: {}, checksum: 1 });
}
const there = async (path: string) =>
  await readFile(join(dir, "root", path)).then(
    () => true,
    () => false,
  );
const states = async () => [await there(CPUS), await there(MEMORY)];

describe("the state of a kubelet's CPUs and memory", () => {
  test.each<[string, MachineConfig, string, MachineConfig, boolean]>([
    ["goes with the policy for CPUs", none, "none", fixed, false],
    ["goes with the policy for CPUs back again", fixed, "static", none, false],
    ["goes with the CPUs that are reserved", fixed, "static", more, false],
    [
      "stays while pods have no CPUs alone, whatever is reserved",
      none,
      "none",
      withKubelet({ kubeReserved: { cpu: "2" } }),
      true,
    ],
    ["stays with other settings", fixed, "static", withKubelet({ cpuManagerPolicy: "static", maxPods: 50 }), true],
    ["stays where only the unit changes", fixed, "static", withKubelet({ cpuManagerPolicy: "static" }, "other"), true],
  ])("%s", async (_, before, policy, after, stays) => {
    await applied(dir, before);
    await left(policy);
    await applied(dir, after);
    expect(await states()).toEqual([stays, true]);
    expect(await system.running()).toHaveProperty(["kubelet.service"]);
  });

  test("is removed while no kubelet runs, which would write it once more", async () => {
    await applied(dir, none);
    await left("none");
    await system.commands();
    await applied(dir, fixed);
    const commands = await system.commands();
    expect(commands.filter((line) => /stop|restart/.test(line))).toEqual([
      "stop kubelet.service",
      "restart kubelet.service",
    ]);
  });

  test("goes with the CPUs that are reserved, also where an earlier agent made the machine", async () => {
    await applied(dir, fixed);
    await rm(join(dir, "root/var/lib/gardener-node-agent/kubelet-managers.json"), { force: true });
    await left("static");
    await applied(dir, more);
    expect(await states()).toEqual([false, true]);
  });

  test("is judged by what the machine itself says of its kubelet, too", async () => {
    await put(HOST, { memoryManagerPolicy: "Static", cpuManagerPolicy: "static" });
    await applied(dir, none);
    await left("static", "None");
    await applied(dir, withKubelet({ maxPods: 50 }));
    expect(await states(), "the memory's is of another policy").toEqual([true, false]);
  });

  test("goes where no kubelet could read it", async () => {
    await applied(dir, none);
    await put(CPUS, {});
    await writeFile(join(dir, "root", CPUS), "{");
    await applied(dir, withKubelet({ maxPods: 50 }));
    expect(await there(CPUS)).toBe(false);
  });

  test.each<[string, MachineConfig, MachineConfig]>([
    ["of another policy", none, fixed],
    ["of other reserved CPUs", fixed, more],
  ])(
    "%s never outlasts an agent that is killed before each thing that it does",
    async (_, before, after) => {
      let kills = 0;
      for (let step = 1; step < 30; step++) {
        await applied(dir, before);
        await left(before === none ? "none" : "static");
        if (!(await killed(dir, after, { step }))) break;
        kills += 1;
        await applied(dir, after);
        expect(await there(CPUS), `killed before step ${step}`).toBe(false);
        expect(await system.running()).toHaveProperty(["kubelet.service"]);
      }
      expect(kills).toBeGreaterThan(3);
    },
    seconds(60),
  );
});
