import { mkdtemp, readFile, rm, stat, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { applyMachine } from "../../../src/node-agent/apply-machine.ts";
import type { MachineConfig } from "../../../src/node-agent/wanted.ts";
import { fakeSystem, type FakeSystem } from "../../support/fake-systemctl.ts";
import { applied, filesIn, killed, machineIn } from "../../support/machine-world.ts";
import { seconds } from "../../support/patience.ts";

const inline = (data: string) => ({ inline: { encoding: "", data } });
const file = (path: string, data: string, permissions = 0o644) => ({ path, permissions, content: inline(data) });
const kubelet = {
  name: "kubelet.service",
  enable: true,
  content: "kubelet",
  dropIns: [{ name: "10-more.conf", content: "+more" }],
  filePaths: ["/etc/kubelet.service.conf"],
};
const first: MachineConfig = {
  spec: {
    files: [
      file("/etc/kubelet.service.conf", "+one", 0o600),
      file("/opt/old/program", "old"),
      { path: "/etc/token", permissions: 0o600, content: { secretRef: { name: "s", dataKey: "token" } } },
      { ...file("/etc/elsewhere", "no"), hostName: "other" },
    ],
    units: [kubelet, { name: "old.service", enable: true, content: "old" }],
  },
};
const second: MachineConfig = {
  spec: {
    files: [file("/etc/kubelet.service.conf", "+two", 0o600), file("/opt/new/program", "new")],
    units: [kubelet, { name: "containerd.service", dropIns: [{ name: "a.conf", content: "+a" }] }],
  },
};
const nothing: MachineConfig = { spec: {} };

let dir: string;
let system: FakeSystem;
const record = "/var/lib/gardener-node-agent/last-applied-osc.yaml";

/** What is there for who uses the machine: files but for the record, and units with what they run with. */
async function world() {
  const { [record]: _, ...files } = await filesIn(join(dir, "root"));
  return { files, running: await system.running(), enabled: await system.enabled() };
}

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "perennial-node-agent-"));
  system = await fakeSystem(dir, { "containerd.service": "containerd" });
});

afterEach(async () => await rm(dir, { recursive: true }));

describe("the node agent", () => {
  test("makes a bare machine what it is to be, with a unit that runs with all that belongs to it", async () => {
    const { restarted } = await applied(dir, first);
    const { files, running, enabled } = await world();
    expect(restarted).toEqual(["kubelet.service", "old.service"]);
    expect(running).toEqual({ "kubelet.service": "kubelet+more+one", "old.service": "old" });
    expect(enabled).toEqual(["kubelet.service", "old.service"]);
    expect(files).toMatchObject({
      "/etc/kubelet.service.conf": "600 +one",
      "/etc/token": "600 from a Secret",
      "/opt/old/program": "644 old",
    });
    expect(files).not.toHaveProperty("/etc/elsewhere");
  });

  test("does nothing where nothing has changed, however the content is encoded", async () => {
    await applied(dir, first);
    await system.commands();
    const before = await stat(join(dir, "root", record));
    const [conf, ...others] = first.spec.files ?? [];
    const content = { inline: { encoding: "b64", data: Buffer.from("+one").toString("base64") } };
    const again = {
      spec: { ...first.spec, files: [{ ...conf, path: "/etc/kubelet.service.conf", content }, ...others] },
    };
    const done = await applied(dir, again);
    expect(done).toEqual({ written: [], removed: [], restarted: [], stopped: [], restartDue: false });
    expect(await system.commands()).toEqual([]);
    expect((await stat(join(dir, "root", record))).ino).toBe(before.ino);
  });

  test("enables several units at once, and where one is unknown, all others one by one", async () => {
    await applied(dir, first);
    expect((await system.commands()).filter((line) => line.startsWith("enable"))).toEqual([
      "enable kubelet.service old.service",
    ]);
    const units = [
      kubelet,
      { name: "none.service", enable: true },
      { name: "new.service", enable: true, content: "new" },
    ];
    await expect(applied(dir, { spec: { files: first.spec.files, units } })).rejects.toThrow(
      "cannot enable unit none.service: Unit file none.service does not exist.",
    );
    expect(await system.enabled()).toEqual(["kubelet.service", "new.service"]);
  });

  test("starts units together, once those run that others need", async () => {
    const started: string[] = [];
    const [both, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const systemctl = async ([verb, unit = ""]: readonly string[]) => {
      if (verb !== "restart") return "";
      started.push(unit);
      if (started.length === 2) setTimeout(second.resolve, 50);
      if (unit === "systemd-sysctl.service") await second.promise;
      if (unit === "b.service") both.resolve();
      if (unit === "a.service") await both.promise;
      return "";
    };
    const unit = (name: string) => ({ name, content: name });
    const units = ["a.service", "b.service", "systemd-sysctl.service", "containerd.service"].map(unit);
    const { restarted } = await applyMachine({ ...machineIn(dir), systemctl }, { spec: { units } });
    expect(started).toEqual(["containerd.service", "systemd-sysctl.service", "a.service", "b.service"]);
    expect(restarted).toEqual(started);
  });

  test("changes only what differs, and has systemd read its units once", async () => {
    await applied(dir, first);
    await system.commands();
    await applied(dir, second);
    expect(await system.commands()).toEqual([
      "disable old.service",
      "stop old.service",
      "daemon-reload",
      "enable kubelet.service",
      "restart containerd.service",
      "restart kubelet.service",
    ]);
    const { files, running } = await world();
    expect(running).toEqual({ "kubelet.service": "kubelet+more+two", "containerd.service": "containerd+a" });
    expect(files).not.toHaveProperty("/opt/old/");
  });

  test("leaves a machine as bare as it was when nothing is wanted any more", async () => {
    const before = await world();
    await applied(dir, first);
    await applied(dir, second);
    await applied(dir, nothing);
    const after = await world();
    expect(after.running).toEqual({ "containerd.service": "containerd" });
    expect(after.enabled).toEqual([]);
    for (const path of ["/var/", "/var/lib/", "/var/lib/gardener-node-agent/"]) delete after.files[path];
    expect(after.files).toEqual(before.files);
  });

  test("writes a file again that was removed, and restarts what reads it", async () => {
    await applied(dir, first);
    await unlink(join(dir, "root/etc/kubelet.service.conf"));
    const { written, restarted } = await applied(dir, first);
    expect({ written, restarted }).toEqual({ written: ["/etc/kubelet.service.conf"], restarted: ["kubelet.service"] });
  });

  test("keeps no content in its record, which root alone may read", async () => {
    await applied(dir, first);
    expect(await readFile(join(dir, "root", record), "utf8")).not.toContain("from a Secret");
    expect((await stat(join(dir, "root", record))).mode & 0o777).toBe(0o600);
  });

  test("starts all other units when one fails, names it, and starts it the next time", async () => {
    await system.breakUnit("kubelet.service", true);
    await expect(applied(dir, first)).rejects.toThrow(
      'cannot restart unit kubelet.service: Job for kubelet.service failed.; see "journalctl --unit kubelet.service", mend that and do the same once more',
    );
    expect(await system.running()).toEqual({ "old.service": "old" });
    await system.breakUnit("kubelet.service", false);
    await system.commands();
    await applied(dir, first);
    expect(await system.commands()).toEqual(["enable kubelet.service", "restart kubelet.service"]);
  });

  test("leaves the unit that it runs in to its caller", async () => {
    const machine = { ...machineIn(dir), ownUnit: "kubelet.service" };
    const { restartDue, restarted } = await applyMachine(machine, first);
    expect({ restartDue, restarted }).toEqual({ restartDue: true, restarted: ["old.service"] });
    expect(await system.running()).toEqual({ "old.service": "old" });
    expect(await applyMachine(machine, first)).toMatchObject({ restartDue: false });
  });

  test("tells its caller once more that its own unit has another program, where another unit has failed before", async () => {
    const machine = { ...machineIn(dir), ownUnit: "old.service" };
    await system.breakUnit("kubelet.service", true);
    await expect(applyMachine(machine, first)).rejects.toThrow("cannot restart unit kubelet.service");
    await system.breakUnit("kubelet.service", false);
    expect(await applyMachine(machine, first)).toMatchObject({ restartDue: true });
    expect(await applyMachine(machine, first)).toMatchObject({ restartDue: false });
  });

  test.each<[string, MachineConfig, string]>([
    [
      "a relative path",
      { spec: { files: [file("etc/x", "")] } },
      'cannot write file "etc/x": its path has to be absolute',
    ],
    ["a path that leads up", { spec: { files: [file("/etc/../x", "")] } }, 'cannot write file "/etc/../x"'],
    [
      "a file in a file",
      { spec: { files: [file("/x", ""), file("/x/y", "")] } },
      "cannot write file /x/y: /x is a file",
    ],
    [
      "a file of nothing",
      { spec: { files: [{ path: "/x", content: {} }] } },
      "cannot write file /x: it has no content",
    ],
    ["a unit's name", { spec: { units: [{ name: "../x.service" }] } }, 'cannot write unit "../x.service"'],
    [
      "a unit that is empty",
      { spec: { units: [{ name: "x.service", content: "\n" }] } },
      "cannot write unit x.service",
    ],
    [
      "a drop-in's name",
      { spec: { units: [{ name: "x.service", dropIns: [{ name: "x", content: "" }] }] } },
      'cannot write drop-in "x" of unit x.service',
    ],
  ])("refuses %s, and changes nothing", async (_, config, message) => {
    const before = await world();
    await expect(
      applied(dir, { spec: { ...config.spec, files: [...(config.spec.files ?? []), file("/ok", "")] } }),
    ).rejects.toThrow(message);
    expect(await world()).toEqual(before);
  });

  test("changes nothing where a Secret cannot be read, and says for which file", async () => {
    const before = await world();
    const machine = machineIn(dir, {
      readSecret: async (name) => {
        throw new Error(`Secret kube-system/${name} not found`);
      },
    });
    await expect(applyMachine(machine, first)).rejects.toThrow(
      "cannot write file /etc/token: key token of Secret s was not read: Secret kube-system/s not found",
    );
    expect(await world()).toEqual(before);
  });

  test("refuses a record that it has not written, and says what to do", async () => {
    await applied(dir, first);
    await writeFile(join(dir, "root", record), "kind: OperatingSystemConfig\n");
    await expect(applied(dir, first)).rejects.toThrow("it is not a record of this agent; move it away");
  });

  test("stops between two things when it is told to, and goes on the next time", async () => {
    const stop = new AbortController();
    const tell = (message: string) => message.startsWith("restart") && stop.abort(new Error("told to stop"));
    await expect(applyMachine(machineIn(dir), first, { signal: stop.signal, tell })).rejects.toThrow("told to stop");
    await applied(dir, first);
    expect(await system.running()).toEqual({ "kubelet.service": "kubelet+more+one", "old.service": "old" });
  });
});

describe("the node agent, killed before each thing that it does,", () => {
  test.each<[string, MachineConfig]>([
    ["ends where it was going", second],
    ["ends where it came from when it is told to", first],
    ["leaves nothing behind when nothing is wanted", nothing],
  ])(
    "%s",
    async (_, wanted) => {
      await applied(dir, first);
      await applied(dir, second);
      await applied(dir, wanted);
      const expected = await world();
      let kills = 0;
      for (let step = 1; step < 50; step++) {
        await applied(dir, first);
        if (!(await killed(dir, second, { step }))) break;
        kills += 1;
        await applied(dir, wanted);
        expect(await world()).toEqual(expected);
      }
      expect(kills).toBe(12);
    },
    seconds(60),
  );
});
