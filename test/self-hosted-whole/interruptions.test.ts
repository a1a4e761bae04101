import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isReady } from "../../src/activities/waits/readiness.ts";
import { startControlPlane } from "../../src/gardenadm/init/start-control-plane.ts";
import { joinControlPlane } from "../../src/gardenadm/join/join-control-plane.ts";
import { joinWorker } from "../../src/gardenadm/join/join-worker.ts";
import { Node, Secret } from "../../src/kube/index.ts";
import { reconcileSelfHosted, type SelfHostedRun } from "../../src/workflows/reconcile-self-hosted.ts";
import type { BareGround } from "../support/bare-machines.ts";
import { etcdMembers, fileOf, restingWorld } from "../support/cluster-world.ts";
import { eventually } from "../support/eventually.ts";
import { INIT, MADE_ONCE, startGardenadmMachines, type GardenadmMachine } from "../support/gardenadm-machine.ts";
import { rowsOf, type Interruption } from "../support/interruption.ts";
import { contentsOf, objectsOf, orphansIn, orphansOn } from "../support/undisturbed.ts";

type Name = "a" | "b" | "w";

let ground: BareGround;
let machines: Readonly<Record<Name, GardenadmMachine>>;
/** What a cluster has which nothing has disturbed: files by machine, and objects. */
const undisturbed: Partial<Record<Name | "a alone", Readonly<Record<string, string>>>> = {};
let objects: readonly string[] = [];
/** What was made of the cluster whose machines are interrupted: nothing of it may be made anew. */
let known: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  ({ ground, machines } = await startGardenadmMachines("test-rows", ["a", "b", "w"]));
  await machines.a.succeed(INIT);
  undisturbed["a alone"] = await contentsOf(machines.a);
  for (const [name, role] of joining) {
    await machines[name].succeed(await machines.a.invite(role));
    undisturbed[name] = await contentsOf(machines[name]);
  }
  await restingWorld(machines.a);
  undisturbed.a = await contentsOf(machines.a);
  objects = await objectsOf(machines.a);
});

afterAll(async () => {
  await ground.stop();
});

const joining = [
  ["w", "worker"],
  ["b", "control-plane"],
] as const;

/** What a run finds first of the cluster of the example configuration, which has no backups. */
const FIRST_RUN: SelfHostedRun = {
  podNetworkMissing: true,
  hasKubeProxy: true,
  offered: ["Network", "OperatingSystemConfig", "ControlPlane"],
  hasBackup: false,
};

/**
 * One life of a cluster for each kind of interruption. A command that was ended in one row is given again, and ended in the next:
 * what comes before it was done by then, by runs of which each was cut off. A row that a cluster meets once only, and has met
 * before it could be ended there, is met by the next one.
 */
describe.each<Interruption>(["SIGKILL", "power cut"])("by %s", (by) => {
  test("machines are as bare as before", async () => {
    await Promise.all(Object.values(machines).map(async (machine) => await machine.wipe()));
    known = {};
  });

  test.each([...rowsOf(startControlPlane, { imported: false }), ...rowsOf(reconcileSelfHosted, FIRST_RUN)])(
    'init that was ended in $step of "$flow" keeps what it has made',
    async (row) => {
      const { a } = machines;
      if ((await a.interrupt(INIT, row, by)) === "without the row") {
        await a.wipe();
        known = {};
        expect(await a.interrupt(INIT, row, by)).toBe("interrupted");
      }
      await keepsIdentity();
    },
  );

  test("init ends as if nothing had been", async () => {
    await machines.a.succeed(INIT);
    await endsUndisturbed("a alone", ["a"]);
  });

  test.each(rowsOf(joinWorker, undefined))("a worker whose join was ended in $step is no second one", async (row) => {
    const invitation = await machines.a.invite("worker");
    expect(await machines.w.interrupt(invitation, row, by)).toBe("interrupted");
    expect([["a"], ["a", "w"]]).toContainEqual(await nodeNames());
    await keepsIdentity();
  });

  test("the worker joins as if nothing had been", async () => {
    await machines.w.succeed(await machines.a.invite("worker"));
    await endsUndisturbed("w", ["a", "w"]);
  });

  test.each(rowsOf(joinControlPlane, undefined))(
    "a control plane has its quorum when a join was ended in $step",
    async (row) => {
      const { a, b } = machines;
      // Where two have a vote, nothing is served until the other one is on again.
      const invitation = await eventually(async () => await a.invite("control-plane"), 120_000);
      expect(await b.interrupt(invitation, row, by)).toBe("interrupted");
      const etcds = await eventually(async () => await etcdMembers(a), 60_000);
      for (const members of Object.values(etcds)) {
        expect(members.length).toBeLessThanOrEqual(2);
        expect(members).toContainEqual({ name: "a", isLearner: false });
      }
      await keepsIdentity();
    },
  );

  test("the control plane's node joins as if nothing had been, and no learner is left", async () => {
    const { a, b } = machines;
    await b.succeed(await eventually(async () => await a.invite("control-plane"), 120_000));
    await endsUndisturbed("b", ["a", "b", "w"]);
    const voters = ["a", "b"].map((name) => ({ name, isLearner: false }));
    for (const machine of [a, b]) expect(await etcdMembers(machine)).toEqual({ main: voters, events: voters });
    await a.succeed(INIT);
    await endsUndisturbed("a", ["a", "b", "w"]);
    await eventually(async () => expect(await objectsOf(a)).toEqual(objects), 120_000);
    await a.asAdministrator(async (client) => {
      for (const machine of Object.values(machines))
        await eventually(async () => expect(await orphansOn(machine, client), machine.name).toEqual([]), 180_000);
      expect(await orphansIn(client)).toEqual([]);
    });
  });
});

async function keepsIdentity(): Promise<void> {
  const now = { ...(await machines.a.identity()), ...(await machines.a.etcds()) };
  expect(now).toMatchObject(known);
  known = now;
}

const nodeNames = async () =>
  await machines.a.asAdministrator(async (client) =>
    (await client.list(Node)).map(({ metadata }) => metadata.name).sort(),
  );

/** The machine has the files of one that was never interrupted, and the cluster its keys and these nodes, all ready. */
async function endsUndisturbed(state: keyof typeof undisturbed, nodes: readonly string[]): Promise<void> {
  const machine = state === "a alone" ? machines.a : machines[state];
  await keepsIdentity();
  expect(Object.keys(known)).toEqual([...MADE_ONCE, "etcd-main", "etcd-events"]);
  await eventually(async () => expect(await contentsOf(machine)).toEqual(undisturbed[state]), 60_000);
  const key = await fileOf(machines.a, "/var/lib/static-pods/kube-controller-manager/ca-client/ca.key");
  await machines.a.asAdministrator(async (client) => {
    const ready = async () =>
      (await client.list(Node))
        .filter(isReady)
        .map(({ metadata }) => metadata.name)
        .sort();
    await eventually(async () => expect(await ready()).toEqual(nodes), 120_000);
    const ca = await client.read(Secret, { namespace: "kube-system", name: "ca-client" });
    expect(Buffer.from(ca?.data?.["ca.key"] ?? "", "base64").toString()).toBe(key);
  });
}
