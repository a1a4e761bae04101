import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { FlowProgress } from "../../src/api/shoot/run.ts";
import type { InstallationRun } from "../../src/api/registration/run.ts";
import { installationWorkflowId, progressQuery, searchAttributes } from "../../src/workflows/contract.ts";
import { failure, startInstallationLab, type InstallationLab } from "../support/installation-lab.ts";
import { eventually } from "../support/eventually.ts";
import { seconds } from "../support/patience.ts";

let lab: InstallationLab;
let count = 0;

beforeAll(async () => {
  lab = await startInstallationLab();
}, seconds(120));
afterAll(() => lab.stop());
afterEach(() => {
  lab.world.run = undefined;
  lab.world.installed = undefined;
  lab.world.lag = 0;
  lab.world.calls.length = 0;
  for (const name of Object.keys(lab.world.fail)) lab.world.fail[name] = undefined;
});

/** Asks for an installation and tells its workflow. */
async function ask(change: Partial<InstallationRun> = {}): Promise<InstallationRun> {
  const run: InstallationRun = {
    ...{ name: "one", uid: `uid-${(count += 1)}`, operation: "Create", registration: "one", seedName: "seed-1" },
    ...{ hash: "a", seedExists: true, gardenAccess: false, seedDeadline: 60_000, retryDuration: 60_000 },
    ...change,
  };
  lab.world.run = run;
  await lab.installations.nudge(run);
  return run;
}

const handleOf = (run: InstallationRun) => lab.client.workflow.getHandle(installationWorkflowId(run));
const progress = (run: InstallationRun): Promise<FlowProgress> => handleOf(run).query(progressQuery);
const stateOf = async (run: InstallationRun, step: string) =>
  (await progress(run)).steps.find(({ name }) => name === step)?.state;
/** What lists of flows show of the run. */
async function shownOf(run: InstallationRun) {
  const { typedSearchAttributes: shown } = await handleOf(run).describe();
  return { phase: shown.get(searchAttributes.phase), errorCode: shown.get(searchAttributes.errorCode) };
}
const soon = (look: () => Promise<void>) => eventually(look);

test("an installation is made step by step, and its workflow ends with it", async () => {
  const run = await ask({ gardenAccess: true });
  await handleOf(run).result();
  const { calls } = lab.world;
  expect(calls.slice(2, 4).sort()).toEqual(["gardenAccess", "resourceManager"]);
  expect([...calls.slice(0, 2), ...calls.slice(4)]).toEqual(["hold", "namespace", "chart", "installed"]);
  expect((await progress(run)).percent).toBe(100);
});

test("what is not installed yet is looked at again and again, without growing the history", async () => {
  lab.world.fail["installed"] = failure("it is not healthy", true);
  const run = await ask();
  await soon(async () => expect(lab.world.calls.filter((call) => call === "installed").length).toBeGreaterThan(4));
  expect(lab.world.calls).not.toContain("gardenAccess");
  const { historyLength } = await handleOf(run).describe();
  lab.world.fail["installed"] = undefined;
  await handleOf(run).result();
  expect(historyLength).toBeLessThan(60);
});

test("a broken chart parks the step, and a retry that an operator asks for resumes at exactly that step", async () => {
  lab.world.fail["chart"] = failure("the chart has hooks", false);
  const run = await ask();
  await soon(async () => expect(await stateOf(run, "chart")).toBe("parked"));
  const { steps } = await progress(run);
  expect(steps.find(({ name }) => name === "chart")?.error?.message).toBe("the chart has hooks");
  const asParked = { phase: "Parked", errorCode: "ERR_CONFIGURATION_PROBLEM" };
  await soon(async () => expect(await shownOf(run)).toEqual(asParked));
  await expect(lab.installations.retry(run, "namespace")).rejects.toThrow("does not wait");
  lab.world.fail["chart"] = undefined;
  expect(await lab.installations.retry(run)).toEqual(["chart"]);
  await handleOf(run).result();
  expect(await shownOf(run)).toMatchObject({ phase: "Succeeded" });
  expect(lab.world.calls).toEqual(["hold", "namespace", "resourceManager", "chart", "chart", "installed"]);
});

test("a chart that is mended meanwhile is installed without a retry, and a nudge that changes nothing disturbs nothing", async () => {
  lab.world.fail["chart"] = failure("the chart does not render", false);
  const run = await ask();
  await soon(async () => expect(await stateOf(run, "chart")).toBe("parked"));
  await lab.installations.nudge(run);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await stateOf(run, "chart")).toBe("parked");
  lab.world.fail["chart"] = undefined;
  lab.world.run = { ...run, hash: "b" };
  await lab.installations.nudge(run);
  await handleOf(run).result();
  expect(lab.world.calls.at(-1)).toBe("installed");
});

test("an installation that hears of its own success finishes, and does not stop itself", async () => {
  lab.world.lag = 3_000;
  const run = await ask();
  await soon(async () => expect(lab.world.installed).toBe(run.hash));
  await lab.installations.nudge(run);
  await handleOf(run).result();
  const { steps, finishedAt } = await progress(run);
  expect(steps.map(({ state }) => state)).toEqual(["done", "done", "done", "skipped", "done", "done"]);
  expect(finishedAt).toBeDefined();
  expect(lab.world.calls).toEqual(["hold", "namespace", "resourceManager", "chart", "installed"]);
});

test("a change that is taken back while it is being installed does not leave the half of it in the seed", async () => {
  lab.world.fail["installed"] = failure("it is not healthy", true);
  lab.world.installed = "a";
  const run = await ask({ operation: "Reconcile", hash: "b" });
  await soon(async () => expect(lab.world.calls).toContain("installed"));
  lab.world.fail["installed"] = undefined;
  lab.world.calls.length = 0;
  lab.world.run = { ...run, hash: "a" };
  await lab.installations.nudge(run);
  await handleOf(run).result();
  expect(lab.world.calls.filter((call) => call !== "installed")).toEqual([
    "hold",
    "namespace",
    "resourceManager",
    "chart",
  ]);
});

test("a removal that comes during an install takes its place", async () => {
  lab.world.fail["installed"] = failure("it is not healthy", true);
  const run = await ask();
  await soon(async () => expect(lab.world.calls).toContain("installed"));
  lab.world.run = { ...run, operation: "Delete" };
  await lab.installations.nudge(run);
  await handleOf(run).result();
  expect(lab.world.calls.slice(-4)).toEqual(["unneeded", "removeChart", "removed", "release"]);
});

test("a controller that an operator is to install is handed over without asking who needs it, and a deletion that comes then is asked", async () => {
  lab.world.fail["removed"] = failure("the resource manager has not taken away all of it yet", true);
  const run = await ask({ operation: "Delete", replaced: true });
  await soon(async () => expect(lab.world.calls).toContain("removed"));
  expect(lab.world.calls.slice(0, 2)).toEqual(["replaced", "removeChart"]);
  const { replaced: _, ...deleted } = run;
  lab.world.run = deleted;
  lab.world.fail["removed"] = undefined;
  await lab.installations.nudge(run);
  await handleOf(run).result();
  expect(lab.world.calls.slice(-4)).toEqual(["unneeded", "removeChart", "removed", "release"]);

  const other = await ask({ operation: "Delete", replaced: true });
  await handleOf(other).result();
  expect(lab.world.calls.slice(-5)).toEqual(["replaced", "removeChart", "removed", "withdraw", "release"]);
});

test("a seed that disappears during an install is waited for where operators see it, and other seeds' installs go on", async () => {
  lab.world.fail["installed"] = failure("it is not healthy", true);
  const run = await ask({ seedDeadline: 2_000, retryDuration: 3_600_000 });
  await soon(async () => expect(lab.world.calls).toContain("installed"));
  await lab.stopSeed();
  await lab.startSeed("seed-2");
  try {
    await soon(async () => {
      const { steps } = await progress(run);
      expect(steps.find(({ name }) => name === "installed")?.error?.message).toContain(
        "the worker of Seed seed-1 has not answered for 2 s: it is down, or cannot reach Temporal",
      );
    });
    const other: InstallationRun = { ...run, name: "two", uid: "uid-two", seedName: "seed-2" };
    lab.world.others.set("two", other);
    await lab.installations.nudge(other);
    await handleOf(other).result();
    expect((await handleOf(run).describe()).status.name).toBe("RUNNING");

    lab.world.run = { ...run, operation: "Delete", seedExists: false };
    await lab.installations.nudge(run);
    await handleOf(run).result();
    expect(lab.world.calls.at(-1)).toBe("release");
  } finally {
    await lab.stopSeed("seed-2");
    await lab.startSeed();
  }
});

test("a Seed that disappears during an install lets the installation go, though its worker is dead", async () => {
  lab.world.fail["installed"] = failure("it is not healthy", true);
  const run = await ask();
  await soon(async () => expect(lab.world.calls).toContain("installed"));
  await lab.stopSeed();
  try {
    lab.world.run = { ...run, operation: "Delete" };
    await lab.installations.nudge(run);
    await soon(async () => expect(await stateOf(run, "unneeded")).toBe("running"));
    lab.world.run = { ...run, operation: "Delete", seedExists: false };
    await lab.installations.nudge(run);
    await handleOf(run).result();
    expect(lab.world.calls.at(-1)).toBe("release");
  } finally {
    await lab.startSeed();
  }
});
