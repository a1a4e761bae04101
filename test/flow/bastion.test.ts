import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { KubeError } from "../../src/kube/index.ts";
import type { BastionRun } from "../../src/api/shoot/bastion-run.ts";
import { bastionWorkflowId } from "../../src/workflows/contract.ts";
import { newBastionWorld, startBastionLab, type BastionLab } from "../support/bastion-lab.ts";
import { shootRun } from "../support/shoot-run.ts";
import { eventually } from "../support/eventually.ts";
import { seconds } from "../support/patience.ts";

let lab: BastionLab;
let run: BastionRun;
let count = 0;

beforeAll(async () => void (lab = await startBastionLab()), seconds(120));
afterAll(() => lab.stop());
beforeEach(() => {
  lab.world = newBastionWorld();
  const { namespace, seedName } = shootRun();
  run = {
    ...{ namespace, name: "b", uid: `uid-${(count += 1)}`, generation: 1 },
    ...{ shoot: shootRun(), seedName, seedDeadline: 60_000, lookDeadline: 60_000 },
  };
});
afterEach(async () => {
  lab.world.task = null;
  await lab.flows.nudge(run); // ends what a test that failed has left, before the next has a world of its own
  await handle().result();
});

const handle = () => lab.client.workflow.getHandle(bastionWorkflowId(run));
const soon = (look: () => Promise<void> | void) => eventually(look);
const ready = { ready: true, ingress: { ip: "203.0.113.9" } } as const;
const begin = async (change: Partial<BastionRun> = {}) => {
  run = { ...run, ...change };
  lab.world.task = { is: "apply", run };
  await lab.flows.nudge(run);
};

test("a Bastion is made, waited for and told where it is, and its workflow ends", async () => {
  await begin();
  await soon(() => expect(lab.world.calls).toContain("look"));
  lab.world.sight = ready;
  await handle().result();
  expect(lab.world.calls).toEqual(["hold", "apply", "look"]);
  expect(lab.world.news).toEqual([{ is: "ready", ingress: { ip: "203.0.113.9" } }]);
  expect(lab.world.about).toEqual([run]);
  expect(lab.world.since).toBeGreaterThan(Date.parse("2026-01-01"));
  expect(bastionWorkflowId(run)).toBe(`bastion/garden-dev/b/${run.uid}`);
});

test("an error of the controller is told once, and what comes of it is seen without asking the controller again", async () => {
  await begin();
  lab.world.sight = { ready: false, message: "no quota", codes: ["ERR_INFRA_QUOTA_EXCEEDED"] };
  const told = { is: "failed", message: "The bastion is not ready: no quota", codes: ["ERR_INFRA_QUOTA_EXCEEDED"] };
  await soon(() => expect(lab.world.news).toEqual([told]));
  lab.world.sight = ready;
  await handle().result();
  expect(lab.world.news).toEqual([told, { is: "ready", ingress: { ip: "203.0.113.9" } }]);
  expect(lab.world.calls.filter((call) => call === "apply")).toHaveLength(1);
});

test("what the seed refuses is told to users, and a change of the Bastion is tried at once", async () => {
  const refusal = new KubeError("cannot apply Bastion: invalid", { status: 422, reason: "Invalid", retryable: false });
  lab.world.fail["apply"] = refusal;
  await begin();
  const message = "The bastion cannot be made: cannot apply Bastion: invalid";
  await soon(() => expect(lab.world.news).toContainEqual({ is: "failed", message, codes: [] }));
  expect(lab.world.about).toEqual([run]);
  lab.world.fail["apply"] = undefined;
  lab.world.sight = ready;
  await begin({ generation: 2 });
  await handle().result();
  expect(lab.world.news.at(-1)).toMatchObject({ is: "ready" });
});

test("a Bastion whose seed is silent says so, and is made when the seed's worker is back", async () => {
  await lab.stopSeed();
  await begin({ seedDeadline: 1_000 });
  const silence = "the worker of Seed seed-1 has not answered for 1 s: it is down, or cannot reach Temporal";
  await soon(() =>
    expect(lab.world.news).toContainEqual({
      is: "failed",
      message: `The bastion cannot be made: ${silence}`,
      codes: [],
    }),
  );
  lab.world.sight = ready;
  await lab.startSeed();
  await handle().result();
  expect(lab.world.news.at(-1)).toMatchObject({ is: "ready" });
});

test("a Bastion that cannot be made yet says why, and is made when it can be", async () => {
  lab.world.task = { is: "wait", why: "the Shoot is moving" };
  await lab.flows.nudge(run);
  await soon(() =>
    expect(lab.world.news).toEqual([{ is: "failed", message: "The bastion is not made: the Shoot is moving." }]),
  );
  lab.world.sight = ready;
  await begin();
  await handle().result();
  expect(lab.world.calls).toEqual(["hold", "apply", "look"]);
});

test("a deletion that comes while a Bastion is waited for takes its place, and lets it go when nothing is left", async () => {
  await begin();
  await soon(() => expect(lab.world.calls).toContain("look"));
  lab.world.task = { is: "remove", run };
  await lab.flows.nudge(run);
  await soon(() => expect(lab.world.calls).toContain("remove"));
  expect(lab.world.news).toEqual([{ is: "deleting" }]);
  expect(lab.world.calls).not.toContain("release");
  lab.world.left = false;
  await handle().result();
  expect(lab.world.calls).toEqual(["hold", "apply", "look", "remove", "release"]);
});

test("a controller that does not answer is asked anew, and users are not told of that", async () => {
  await begin({ lookDeadline: 1_000 });
  const missing = "its controller has not reported an operation";
  lab.world.sight = { ready: false, message: missing, codes: [] };
  await soon(() => expect(lab.world.calls.filter((call) => call === "apply")).toHaveLength(2));
  const message = `The bastion is not ready: ${missing}`;
  await soon(() =>
    expect(new Set(lab.world.news.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify({ is: "failed", message, codes: [] })]),
    ),
  );
  lab.world.sight = ready;
  await handle().result();
});

test("a deletion that its controller does not answer says so, and goes on", async () => {
  lab.world.left = true;
  run = { ...run, lookDeadline: 1_000 };
  lab.world.task = { is: "remove", run };
  await lab.flows.nudge(run);
  const message = "The bastion cannot be taken away: its controller has not let it go yet";
  await soon(() => expect(lab.world.news).toContainEqual({ is: "failed", message, codes: [] }));
  lab.world.left = false;
  await handle().result();
  expect(lab.world.calls.at(-1)).toBe("release");
});

test("a deletion whose seed is dead does not wait for it, once it leads no more", async () => {
  await lab.stopSeed();
  run = { ...run, seedDeadline: 2_000 };
  lab.world.task = { is: "remove", run };
  await lab.flows.nudge(run);
  await soon(() => expect(lab.world.news).toContainEqual({ is: "deleting" }));
  lab.world.task = { is: "release", why: "Seed seed-1 does not lead its Shoot" };
  await lab.flows.nudge(run);
  await handle().result();
  await lab.startSeed();
  expect(lab.world.calls).toEqual(["release"]);
});

test("a Bastion is made although all workers stop in the middle of it", async () => {
  await begin();
  await soon(() => expect(lab.world.calls).toContain("look"));
  await Promise.all([lab.stopGarden(), lab.stopSeed()]);
  lab.world.sight = ready;
  await Promise.all([lab.startGarden(), lab.startSeed()]);
  await handle().result();
  expect(lab.world.calls).toEqual(["hold", "apply", "look"]);
  expect(lab.world.news).toEqual([{ is: "ready", ingress: { ip: "203.0.113.9" } }]);
});
