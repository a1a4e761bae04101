import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createShoot, type TestShoot } from "../support/e2e-shoots.ts";
import { eventually } from "../support/eventually.ts";
import { localEnvironment, type LocalEnvironment } from "../support/local-environment.ts";
import { findShootRemains } from "../support/shoot-remains.ts";

let local: LocalEnvironment;
let shoot: TestShoot;

beforeAll(async () => void (local = await localEnvironment()));
afterAll(async () => {
  await local?.restart();
  await local?.close();
});

describe("an operation goes on at its step when a process dies", () => {
  test("in the middle of create", async () => {
    shoot = await createShoot(local, { name: "killed" });
    await killAt("infrastructure", "worker-garden");
    await killAt("kubeApiServer", "worker-seed-1");
    await killAt("worker", "provider-local-seed-1");
    await killAt("nodesReady", "manager");
    const { status } = await shoot.settles("Succeeded", "Create");
    expect(status?.lastErrors ?? []).toEqual([]);
    expect(repeated(await shoot.activities("reconcile"))).toEqual([]);
  });

  test("in the middle of delete", async () => {
    await shoot.remove();
    await killAt("cleanKubernetesResources", "worker-garden");
    await killAt("removeWorker", "provider-local-seed-1");
    await killAt("destroyKubeApiServer", "worker-seed-1");
    await killAt("removeNamespace", "manager");
    await shoot.gone();
    expect(repeated(await shoot.activities("delete"))).toEqual([]);
    await eventually(async () => expect(await findShootRemains(local, shoot)).toEqual([]));
  });
});

describe("a process of ours", () => {
  test.for(["manager", "worker-garden", "worker-seed-1", "fence-seed-1", "provider-local-seed-1", "gateway"])(
    "ends in seconds when it is told to, and its supervisor starts it again: %s",
    async (name) => {
      expect(await local.end(name)).toBeLessThan(10_000);
      await eventually(
        async () => expect(await local.perennial("local", "status")).toMatch(startedAgain(name)),
        60_000,
      );
    },
  );
});

/** The line of a process that runs, and has been started again. */
const startedAgain = (name: string): RegExp => new RegExp(`^${name} +Running +\\d+ +\\S+ +[1-9]`, "m");

/** Kills the process while the step is under way, or just over, starts it again, and says what that cost. */
async function killAt(step: string, process: string): Promise<void> {
  const { state } = await shoot.begun(step);
  const begin = performance.now();
  await local.kill(process);
  const restarted = await local.restart();
  await eventually(async () => expect(await stateOf(step)).toMatch(/done|gone/), 120_000);
  const total = Math.round(performance.now() - begin);
  console.log(
    `${process} killed when ${step} was ${state}: ready again after ${restarted} ms, step done after ${total} ms`,
  );
}

async function stateOf(step: string): Promise<string | undefined> {
  if ((await shoot.read())?.metadata.uid !== shoot.ref.uid) return "gone";
  return (await shoot.progress())?.steps.find(({ name }) => name === step)?.state;
}

/** What was done more than once; a step that is only waited for again is not. */
function repeated(activities: readonly string[]): string[] {
  const acts = activities.filter((activity) => activity.includes("/apply "));
  expect(acts.length).toBeGreaterThan(10);
  return acts.filter((activity, index) => acts.indexOf(activity) !== index);
}
