import { afterAll, beforeAll, expect, test } from "vitest";
import { resetNode } from "../../src/gardenadm/reset/reset-node.ts";
import { Node } from "../../src/kube/index.ts";
import type { BareGround } from "../support/bare-machines.ts";
import { bareWorld, difference } from "../support/bare-world.ts";
import { conditionsOf, WELL } from "../support/cluster-world.ts";
import { eventually } from "../support/eventually.ts";
import { INIT, startGardenadmMachines, type GardenadmMachine } from "../support/gardenadm-machine.ts";
import { rowsOf } from "../support/interruption.ts";

let ground: BareGround;
let a: GardenadmMachine;
/** What the machine was before. */
let bare: readonly string[];

beforeAll(async () => {
  const made = await startGardenadmMachines("test-last-node", ["a"]);
  ground = made.ground;
  ({ a } = made.machines);
  bare = await bareWorld(a);
  await a.succeed(INIT);
});

afterAll(async () => {
  await ground.stop();
});

const isWell = async () => await eventually(async () => expect(await conditionsOf(a)).toEqual(WELL), 240_000);

test("a node that is shut down and switched on again is the cluster that it was", async () => {
  await isWell();
  const known = { identity: await a.identity(), etcds: await a.etcds() };
  await ground.machines.shutDown("a");
  await ground.machines.on("a");
  await isWell();
  expect({ identity: await a.identity(), etcds: await a.etcds() }).toEqual(known);
});

/** The node has left its cluster, or that answers. */
async function canGoOn(): Promise<void> {
  const { code } = await ground.machines.exec("a", ["test", "-e", "/var/lib/gardenadm/left-cluster"]);
  if (code !== 0) await a.asAdministrator(async (client) => await client.list(Node));
}

test("the last node, which began the cluster, is as bare as before when its reset was killed at every row", async () => {
  const command = { words: ["reset"] };
  const subject = { isControlPlane: true, isHere: true, clusterGoesOn: false };
  for (const { step } of rowsOf(resetNode, subject))
    for (const by of ["SIGKILL", "power cut"] as const) {
      await eventually(canGoOn, 120_000);
      expect(await a.interrupt(command, { flow: resetNode.title, step }, by), `${by} in ${step}`).toBe("interrupted");
    }
  await a.succeed(command);
  expect(difference(bare, await bareWorld(a))).toEqual([]);
});
