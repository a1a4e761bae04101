import { beforeEach, expect } from "vitest";
import { Shoot } from "../../src/api/index.ts";
import { createContext } from "../../src/cli/connection.ts";
import { runCli } from "../../src/cli/perennial.ts";
import { registry } from "../../src/cli/registry.ts";
import { refTo } from "../../src/kube/index.ts";
import { admissionTest as test, type AdmissionLab } from "../support/admission-lab.ts";
import { movableStatus } from "../support/migration-objects.ts";
import { createMovableShoot, hearOfSeed, registerReadySeed } from "../support/movable-shoots.ts";
import { fakeTerminal } from "../unit/cli/fake-terminal.ts";

let lab: AdmissionLab;

test.beforeAll(async ({ admissionLab }) => {
  lab = admissionLab;
  for (const name of ["seed-1", "seed-2"]) await registerReadySeed(lab.client, name);
});

beforeEach(async () => {
  for (const name of ["seed-1", "seed-2"]) await hearOfSeed(lab.client, name);
});

test("a plan shows every step and changes nothing", async () => {
  await createMovableShoot(lab.client, "planned");
  const { exit, out } = await migrate("planned", "--to", "seed-2", "--plan");
  expect({ exit, out }).toMatchObject({ exit: 0, out: expect.stringContaining("Nothing stands against it.") });
  for (const step of ["flip", "finalSnapshot", "leave"]) expect(out).toMatch(new RegExp(`^${step} +run`, "m"));
  expect((await read("planned")).spec.seedName).toBe("seed-1");
});

test("a plan reckons with the Shoot's own lease and TTL", async () => {
  const leadership = { ...movableStatus().leadership, leaseSeconds: 20 };
  await createMovableShoot(lab.client, "brisk", { leadership, addressTTLSeconds: 50 });
  const { out } = await migrate("brisk", "--to", "seed-2", "--plan");
  expect(out).toContain("it goes on serving for at least 90s");
});

test("a plan fails where the move cannot be, with every reason", async () => {
  await createMovableShoot(lab.client, "stuck", { leadership: undefined });
  const { exit, out } = await migrate("stuck", "--to", "nowhere", "--plan", "-o", "json");
  const { obstacles } = JSON.parse(out) as { obstacles: { field: string }[] };
  expect(exit).toBe(1);
  expect(obstacles.map(({ field }) => field)).toEqual(["status.leadership", "spec.seedName"]);
  const refused = await migrate("stuck", "--to", "seed-2", "-y");
  expect(refused).toMatchObject({
    exit: 1,
    err: expect.stringContaining("cannot move to Seed seed-2: status.leadership:"),
  });
});

test("a move is asked for when the Shoot's name was typed, and cancelled", async () => {
  await createMovableShoot(lab.client, "moved");
  expect(await migrate("moved", "--to", "seed-2")).toMatchObject({
    exit: 2,
    err: expect.stringContaining("add --yes"),
  });
  expect(await migrateAnswering("no", "moved", "--to", "seed-2")).toMatchObject({ exit: 1 });
  const asked = await migrateAnswering("moved", "moved", "--to", "seed-2");
  expect(asked).toMatchObject({ exit: 0, out: "migration of Shoot garden-dev/moved to Seed seed-2 asked for\n" });
  expect(asked.err).toContain("The API server would be away for about");
  expect((await read("moved")).spec.seedName).toBe("seed-2");
  const again = await migrate("moved", "--to", "seed-2", "-y");
  expect(again).toMatchObject({ exit: 1, err: expect.stringContaining("wait until it is there, or call it back") });
  const back = await migrate("moved", "--cancel");
  expect(back).toMatchObject({ exit: 0, out: "Shoot garden-dev/moved called back to Seed seed-1\n" });
  expect((await read("moved")).spec.seedName).toBe("seed-1");
  expect(await migrate("moved", "--cancel")).toMatchObject({
    exit: 1,
    err: expect.stringContaining("is not on its way"),
  });
});

test("a takeover is approved with a reason, says what it relies on, and is signed", async () => {
  await createMovableShoot(lab.client, "taken");
  await keepSnapshot("taken");
  expect(await migrate("taken", "--to", "seed-2", "-y")).toMatchObject({ exit: 0 });
  const words = ["--force-takeover", "--reason", "seed-1 burnt down", "--source-is-off", "-y"];
  const { exit, out, err } = await migrate("taken", ...words);
  expect({ exit, out, err }).toMatchObject({
    exit: 0,
    out: "takeover of Shoot garden-dev/taken to Seed seed-2 asked for\n",
  });
  expect(err).toContain("The takeover relies on your word that Seed seed-1 is off");
  const approval = JSON.parse(
    (await read("taken")).metadata.annotations?.["perennial.dev/force-takeover"] ?? "{}",
  ) as object;
  expect(approval).toMatchObject({ reason: "seed-1 burnt down", by: "admin", sourceIsOff: true });
});

test("a takeover is refused where no state was kept", async () => {
  await createMovableShoot(lab.client, "empty");
  const refused = await migrate("empty", "--to", "seed-2", "--force-takeover", "--reason", "fire", "-y");
  expect(refused).toMatchObject({ exit: 1, err: expect.stringContaining("there is no ShootState garden-dev/empty") });
  expect((await read("empty")).spec.seedName).toBe("seed-1");
});

test("a move that has passed the flip is not cancelled", async () => {
  const leadership = { ...movableStatus().leadership, seed: "seed-2", previousSeed: "seed-1", epoch: 2, leaving: 1 };
  const lastOperation = { ...movableStatus().lastOperation, type: "Restore", state: "Processing" };
  await createMovableShoot(lab.client, "late");
  await migrate("late", "--to", "seed-2", "-y");
  await lab.client.patch(ref("late"), { status: { leadership, lastOperation } }, { subresource: "status" });
  expect(await migrate("late", "--cancel")).toMatchObject({
    exit: 1,
    err: expect.stringContaining("is being restored on Seed seed-2, where there is only forward"),
  });
});

test("a deletion that is refused while the Shoot moves does not leave the Shoot confirmed for the next", async () => {
  await createMovableShoot(lab.client, "kept");
  expect(await migrate("kept", "--to", "seed-2", "-y")).toMatchObject({ exit: 0 });
  const refused = await run("delete", undefined, "kept", ["-y"]);
  expect(refused).toMatchObject({ exit: 1, err: expect.stringContaining("cannot be deleted while it moves") });
  expect((await read("kept")).metadata).not.toHaveProperty("deletionTimestamp");
  expect((await read("kept")).metadata.annotations ?? {}).not.toHaveProperty(["confirmation.gardener.cloud/deletion"]);
});

function migrate(name: string, ...words: string[]) {
  return run("migrate", undefined, name, words);
}

function migrateAnswering(answer: string, name: string, ...words: string[]) {
  return run("migrate", answer, name, words);
}

async function run(verb: string, answer: string | undefined, name: string, words: readonly string[]) {
  const terminal = fakeTerminal(answer);
  const variables = { PERENNIAL_GARDEN_KUBECONFIG: lab.kubeconfig, PERENNIAL_STATE_DIR: "/nonexistent" };
  const { context, close } = createContext({ terminal, variables, signal: new AbortController().signal });
  const exit = await runCli(["shoot", verb, `garden-dev/${name}`, ...words], registry, context);
  await close();
  return { exit, out: terminal.out.text(), err: terminal.err.text() };
}

async function keepSnapshot(name: string): Promise<void> {
  await lab.client.apply({
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "ShootState",
    metadata: { name, namespace: "garden-dev" },
    spec: { gardener: [{ name: "etcd-main", type: "etcd-snapshot", data: {} }] },
  });
}

async function read(name: string): Promise<Shoot> {
  const shoot = await lab.client.read(ref(name));
  if (!shoot) throw new Error(`there is no Shoot ${name}`);
  return shoot;
}

function ref(name: string) {
  return refTo(Shoot, { name, namespace: "garden-dev" });
}
