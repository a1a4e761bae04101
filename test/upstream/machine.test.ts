import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Node, Pod, refTo } from "../../src/kube/index.ts";
import { pinnedPath } from "../../src/local/binary/binaries.ts";
import { machineImage } from "../../src/local/image/machine-image.ts";
import { versions } from "../../src/local/binary/versions.ts";
import type { Environment } from "../../src/local/environment/environment.ts";
import { describeProcess } from "../../src/local/process/table.ts";
import { exampleContext, exampleShoot } from "../support/control-plane-context.ts";
import { eventually } from "../support/eventually.ts";
import { hello } from "../support/machine-objects.ts";
import { findRemains } from "../support/machine-remains.ts";
import { startUpstreamGround, type UpstreamGround } from "../support/upstream-machine.ts";
import { seconds } from "../support/patience.ts";

/**
 * A machine with a real systemd boots from user data that upstream's provider-local made of what we describe. Upstream's node
 * agent makes it a Node of a Shoot's control plane, whose certificates upstream's resource manager approves. Its network is one
 * that is set aside for tests.
 */
const environment: Environment = {
  name: "test-systemd",
  stateDir: "/var/lib/perennial/test-systemd",
  bridge: "pn-test-systemd",
  network: "198.19.0.0/16",
  gateway: "198.19.0.1",
  domain: "perennial.test",
};
const context = exampleContext({ managesResources: true });
const machine = "machine-1";
/** Of the host: no machine may change them. */
const settings = ["kernel/panic", "vm/max_map_count", "kernel/softlockup_panic", "fs/file-max", "kernel/core_pattern"];
let ground: UpstreamGround;
let before: readonly string[];

beforeAll(async () => {
  if (process.getuid?.() !== 0) throw new Error("machines need root: run this test as root");
  before = await hostSettings();
  ground = await startUpstreamGround(environment, context);
}, seconds(600));

afterAll(async () => {
  await ground.stop();
  expect(await findRemains(environment)).toEqual([]);
});

test(
  "it becomes a ready Node that runs what the registry gave it",
  async () => {
    const userData = await ground.userData(machine);
    expect(userData).toMatch(/^#!/);
    expect(userData.length).toBeLessThan(16 * 1024);
    await ground.deployConfiguration(context);
    await ground.announce(machine);
    await ground.machines.ensure({ name: machine, labels: {}, userData });
    const network = { podCIDR: "10.97.0.0/24", clusterPodCIDR: "10.97.0.0/16", peers: [] };
    await ground.machines.configureNetwork(machine, network);
    await ground.claimNode(machine);
    await untilReady();
    const digest = async (file: string) =>
      createHash("sha256")
        .update(await readFile(file))
        .digest("hex");
    for (const binary of ["kubelet", "gardener-node-agent"] as const)
      expect(await inMachine("sha256sum", `/opt/bin/${binary}`)).toContain(await digest(pinnedPath(binary)));
    expect((await node())?.status).toMatchObject({ nodeInfo: { kubeletVersion: `v${versions.kubernetes}` } });
  },
  seconds(240),
);

test("its systemd runs the units that we and the operating system describe, and no unit has failed", async () => {
  const active = async (unit: string) => await inMachine("systemctl", "is-active", unit);
  for (const unit of ["gardener-node-agent", "kubelet", "containerd", "containerd-logrotate.timer"])
    await eventually(async () => expect(await active(unit), unit).toBe("active"));
  expect(await inMachine("systemctl", "is-enabled", "gardener-node-init")).toBe("disabled");
  expect(await inMachine("systemctl", "cat", "systemd-user-sessions")).toContain("dependencies.conf");
  await eventually(async () => expect(await inMachine("systemctl", "--failed", "--plain", "--no-legend")).toBe(""));
});

test("its agent says on the Node which configuration it has applied, and what it is", async () => {
  await eventually(async () => {
    const { annotations, labels } = (await node())?.metadata ?? {};
    expect(annotations?.["checksum/cloud-config-data"]).toMatch(/^[0-9a-f]{64}$/);
    expect(labels).toMatchObject({
      "node-role.kubernetes.io/worker": "",
      "worker.gardener.cloud/pool": "worker",
      team: "a",
    });
  }, 60_000);
});

test("kernel settings of the machine are not the host's", async () => {
  expect(await inMachine("sysctl", "--values", "vm.max_map_count", "kernel.panic")).toBe("135217728\n10");
  expect(await hostSettings()).toEqual(before);
});

test("a pod runs in it, from an image that was pulled, and answers", async () => {
  await ground.shoot.apply(hello(machine));
  const address = await eventually(async () => {
    const pod = await ground.shoot.read(Pod, { namespace: "default", name: machine });
    const { phase, podIP } = (pod as { status?: { phase?: string; podIP?: string } } | undefined)?.status ?? {};
    expect(phase).toBe("Running");
    return podIP ?? expect.fail("the pod has no address");
  }, 90_000);
  await eventually(async () =>
    expect(await inMachine("curl", "-sSm2", `http://${address}:8080`)).toBe(`hello from ${machine}`),
  );
});

test(
  "a machine's image runs in a pod as well, as upstream's machines do, with a systemd and user data of its own",
  async () => {
    const userdata = "#!/bin/bash\nsystemctl is-active containerd > /run/was-here\nhostname >> /run/was-here\n";
    const metadata = { name: "inner", namespace: "default" };
    const data = { userdata: Buffer.from(userdata).toString("base64") };
    await ground.shoot.apply({ apiVersion: "v1", kind: "Secret", metadata, data });
    const volumes = {
      userdata: ["/etc/machine", { secret: { secretName: "inner", defaultMode: 0o777 } }],
      containerd: ["/var/lib/containerd", { emptyDir: {} }],
      run: ["/run", { emptyDir: { medium: "Memory" } }],
      modules: ["/lib/modules", { hostPath: { path: "/lib/modules" } }],
    } as const;
    const proof =
      '[ "$(systemctl is-system-running)" = running ] && [ "$(cat /run/was-here)" = "$(printf "active\\ninner")" ]';
    await ground.shoot.apply({
      apiVersion: "v1",
      kind: "Pod",
      metadata,
      spec: {
        nodeName: machine,
        containers: [
          {
            name: "node",
            image: machineImage,
            securityContext: { privileged: true },
            volumeMounts: Object.entries(volumes).map(([name, [mountPath]]) => ({ name, mountPath })),
            readinessProbe: { periodSeconds: 2, timeoutSeconds: 5, exec: { command: ["sh", "-c", proof] } },
          },
        ],
        volumes: Object.entries(volumes).map(([name, [, source]]) => ({ name, ...source })),
      },
    });
    await eventually(async () => {
      const { status } = (await ground.shoot.read(Pod, metadata)) ?? {};
      expect(status, JSON.stringify(status)).toMatchObject({
        conditions: expect.arrayContaining([expect.objectContaining({ type: "Ready", status: "True" })]),
      });
    }, 150_000);
    expect(await hostSettings()).toEqual(before);
    await ground.shoot.remove(refTo(Pod, metadata));
  },
  seconds(180),
);

test(
  "a change of the configuration reaches the machine",
  async () => {
    const [pool] = context.shoot.spec.provider.workers ?? [];
    if (pool === undefined) throw new Error("the Shoot has no pool");
    const workers = [{ ...pool, kubernetes: { kubelet: { ...pool.kubernetes?.kubelet, maxPods: 61 } } }];
    const shoot = exampleShoot({ provider: { ...context.shoot.spec.provider, workers } });
    await ground.deployConfiguration({ ...context, shoot });
    await eventually(
      async () => expect((await node())?.status).toMatchObject({ allocatable: { pods: "61" } }),
      120_000,
    );
  },
  seconds(150),
);

test(
  "a machine that died comes back as the same Node",
  async () => {
    const { uid } = (await node())?.metadata ?? {};
    process.kill(await pid1(), "SIGKILL");
    await eventually(async () => expect((await ground.machines.list())[0]?.running).toBe(false));
    await ground.machines.revive(machine);
    const booted = await inMachine("cat", "/proc/sys/kernel/random/boot_id");
    expect(booted).not.toBe("");
    await eventually(async () => expect(await inMachine("systemctl", "is-active", "kubelet")).toBe("active"), 60_000);
    await untilReady();
    expect((await node())?.metadata.uid).toBe(uid);
  },
  seconds(150),
);

test("nothing is left of a removed machine", async () => {
  const pid = await pid1();
  await ground.machines.remove(machine);
  expect(await findRemains(environment, machine)).toEqual([]);
  expect(await describeProcess(pid)).toBeUndefined();
  expect(await hostSettings()).toEqual(before);
});

const node = async () => await ground.shoot.read(refTo(Node, { name: machine }));

async function untilReady(): Promise<void> {
  await eventually(async () => {
    const ready = (await node())?.status?.conditions?.find(({ type }) => type === "Ready");
    expect(ready, JSON.stringify(ready)).toMatchObject({ status: "True" });
  }, 150_000);
}

async function hostSettings(): Promise<string[]> {
  return await Promise.all(settings.map(async (name) => await readFile(`/proc/sys/${name}`, "utf8")));
}

async function pid1(): Promise<number> {
  return Number.parseInt(await readFile(`${environment.stateDir}/machines/${machine}/pid`, "utf8"));
}

/** What a command in the machine prints, also where it fails. */
async function inMachine(...command: readonly string[]): Promise<string> {
  const namespaces = ["--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup", "--root", "--wd"];
  const { stdout } = await execa("nsenter", ["--target", String(await pid1()), ...namespaces, ...command], {
    env: { PATH: "/opt/bin:/usr/sbin:/usr/bin:/sbin:/bin" },
    reject: false,
  });
  return stdout.trim();
}
