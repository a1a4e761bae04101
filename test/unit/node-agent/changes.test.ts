import { describe, expect, test } from "vitest";
import { BARE, begun, changes, type MachineState, type Step } from "../../../src/node-agent/changes.ts";
import type { WantedUnit } from "../../../src/node-agent/wanted.ts";

const folder = "/etc/systemd/system";
const file = (path: string, content = "1", mode = 0o644) => ({ path, content, mode });
const unit = (name: string, more: Partial<WantedUnit> = {}): WantedUnit => ({
  name,
  runs: true,
  ownPaths: [],
  filePaths: [],
  ...more,
});
const state = (more: Partial<MachineState>): MachineState => ({ ...BARE, ...more });
const words = (todo: readonly Step[]): string[] =>
  todo.map((step) =>
    [step.do, "path" in step ? step.path : "", "unit" in step ? step.unit : ""].filter(Boolean).join(" "),
  );
const between = (last: Partial<MachineState>, wanted: Partial<MachineState>) =>
  words(changes(state(last), state(wanted)));

const kubelet = unit("kubelet.service", { enable: true, ownPaths: [`${folder}/kubelet.service`], filePaths: ["/k"] });
const whole = { files: [file(`${folder}/kubelet.service`), file("/k")], units: [kubelet] };

describe("a machine", () => {
  test("that is as it was made needs nothing", () => {
    expect(between(whole, whole)).toEqual([]);
  });

  test.each<[string, Partial<MachineState>, Partial<MachineState>, string[]]>([
    [
      "bare gets files, then systemd reads the units, then they start",
      {},
      whole,
      [`write ${folder}/kubelet.service`, "write /k", "reload", "enable kubelet.service", "restart kubelet.service"],
    ],
    [
      "with another content of a file restarts the units that name it, and systemd is left alone",
      whole,
      { ...whole, files: [file(`${folder}/kubelet.service`), file("/k", "2")] },
      ["write /k", "enable kubelet.service", "restart kubelet.service"],
    ],
    [
      "with another mode of a file writes it",
      { files: [file("/a")] },
      { files: [file("/a", "1", 0o600)] },
      ["write /a"],
    ],
    [
      "removes a file that no unit reads any more once the units were restarted",
      whole,
      { ...whole, files: [file(`${folder}/kubelet.service`)], units: [{ ...kubelet, filePaths: [] }] },
      ["enable kubelet.service", "restart kubelet.service", "remove /k"],
    ],
    [
      "ends a unit that goes before its text does",
      whole,
      {},
      ["end kubelet.service", `remove ${folder}/kubelet.service`, "reload", "remove /k"],
    ],
    [
      "restarts a unit of its own that loses a drop-in of the agent",
      {
        files: [file(`${folder}/containerd.service.d/a.conf`)],
        units: [unit("containerd.service", { ownPaths: [`${folder}/containerd.service.d/a.conf`] })],
        folders: [`${folder}/containerd.service.d`],
      },
      {},
      [
        `remove ${folder}/containerd.service.d/a.conf`,
        "reload",
        "restartIfRunning containerd.service",
        `removeFolder ${folder}/containerd.service.d`,
      ],
    ],
    [
      "reads units again for a drop-in that is only a file",
      {},
      { files: [file(`${folder}/a.service.d/b.conf`)] },
      [`write ${folder}/a.service.d/b.conf`, "reload"],
    ],
    [
      "stops a unit that is not to run, and disables it",
      {},
      { units: [unit("a.service", { runs: false, enable: false })] },
      ["disable a.service", "stop a.service"],
    ],
    [
      "restarts containerd before what needs it",
      {},
      { units: [unit("kubelet.service"), unit("containerd.service")] },
      ["restart containerd.service", "restart kubelet.service"],
    ],
    [
      "lets a file that becomes a folder go first",
      { files: [file("/a")] },
      { files: [file("/a/b")], folders: ["/a"] },
      ["remove /a", "write /a/b"],
    ],
    [
      "lets a folder that becomes a file go first",
      { files: [file("/a/b/c")], folders: ["/a", "/a/b"] },
      { files: [file("/a")] },
      ["remove /a/b/c", "removeFolder /a/b", "removeFolder /a", "write /a"],
    ],
  ])("%s", (_, last, wanted, expected) => {
    expect(between(last, wanted)).toEqual(expected);
  });

  test("whose change was begun and is given up writes and restarts all that it touched", () => {
    const wanted = state({ ...whole, files: [file(`${folder}/kubelet.service`), file("/k", "2"), file("/new")] });
    const last = state(whole);
    const killed = begun(last, wanted, changes(last, wanted));
    expect(words(changes(killed, last))).toEqual([
      "write /k",
      "enable kubelet.service",
      "restart kubelet.service",
      "remove /new",
    ]);
  });

  test("whose unit was begun and is not wanted by then loses it whole", () => {
    const killed = begun(BARE, state(whole), changes(BARE, state(whole)));
    expect(words(changes(killed, BARE))).toEqual([
      "end kubelet.service",
      `remove ${folder}/kubelet.service`,
      "reload",
      "remove /k",
    ]);
  });
});
