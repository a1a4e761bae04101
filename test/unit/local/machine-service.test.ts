import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runService, type Service } from "../../../src/local/machine/service.ts";
import { parseUnit } from "../../../src/local/machine/unit.ts";
import { eventually } from "../../support/eventually.ts";

let logs: string;
const begun: Service[] = [];

beforeEach(async () => {
  logs = await mkdtemp(join(tmpdir(), "units-"));
});

afterEach(async () => {
  for (const service of begun.splice(0)) await service.stop();
  await rm(logs, { recursive: true });
});

function run(...lines: readonly string[]): Service {
  const service = runService(parseUnit("a.service", ["[Service]", ...lines].join("\n")), logs, { givesUp: true });
  begun.push(service);
  return service;
}

const output = async () => await readFile(join(logs, "a.log"), "utf8");

test("a unit that goes on is active until it is stopped", async () => {
  const service = run("ExecStartPre=-/bin/false", "ExecStart=/bin/sh -c 'echo on; exec sleep 1000'");
  await service.started;
  expect(service.state).toMatchObject({ active: "active", sub: "running", mainPid: expect.any(Number) as number });
  await eventually(async () => expect(await output()).toBe("on\n"));
  await service.stop();
  expect(service.state).toMatchObject({ active: "inactive", sub: "dead" });
  expect(service.state.mainPid).toBeUndefined();
});

test.each([
  ["ends well", "exit 0", "", { active: "inactive", sub: "dead", exitCode: 0 }],
  ["ends well and remains", "exit 0", "RemainAfterExit=true", { active: "active", sub: "exited" }],
  ["fails", "exit 3", "RemainAfterExit=true", { active: "failed", sub: "failed", exitCode: 3 }],
])("a oneshot has started when it has ended: one that %s", async (_, command, more, state) => {
  const service = run("Type=oneshot", `ExecStart=/bin/sh -c '${command}'`, more);
  await service.started;
  expect(service.state).toMatchObject(state);
});

test("a unit has started when what follows its start has ended well, and fails with it", async () => {
  const good = run("ExecStart=/bin/sleep 1000", "ExecStartPost=/bin/sh -c 'sleep 0.2; echo followed'");
  await good.started;
  expect(await output()).toBe("followed\n");
  expect(good.state.active).toBe("active");
  const bad = run("ExecStart=/bin/sleep 1000", "ExecStartPost=/bin/false");
  await bad.started;
  expect(bad.state.active).toBe("failed");
});

test("what follows the start of a unit that has failed is ended", async () => {
  const service = run("ExecStart=/bin/sh -c 'sleep 0.1; exit 4'", "ExecStartPost=/bin/sleep 1000");
  await service.started;
  expect(service.state).toMatchObject({ active: "failed", exitCode: 4 });
});

test("a unit that fails is started again, until it was started too often", async () => {
  const service = run("ExecStart=/bin/sh -c 'echo try; exit 1'", "Restart=on-failure", "StartLimitBurst=3");
  await eventually(() => expect(service.state).toMatchObject({ active: "activating", sub: "auto-restart" }));
  await eventually(() => expect(service.state).toMatchObject({ active: "failed" }));
  expect(await output()).toBe("try\ntry\ntry\na.service was started 3 times within 10 s, and is not started again\n");
});
