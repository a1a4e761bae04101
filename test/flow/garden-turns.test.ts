import type { Client } from "@temporalio/client";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createGardenTurns } from "../../src/client/garden-binding.ts";
import { createGardenRegister, GARDEN_SCHEDULE } from "../../src/client/garden-register.ts";
import { parseTurn, type Turn } from "../../src/binding/turn.ts";
import { createModelCluster } from "../support/binding-model.ts";
import { startGatewayLab, type GatewayLab } from "../support/gateway-lab.ts";

let lab: GatewayLab;
let garden: Client;

beforeAll(async () => {
  lab = await startGatewayLab();
  garden = await lab.connect(await lab.asGarden());
});
afterAll(() => lab.stop());
beforeEach(async () => {
  const { workflowService, options } = garden;
  await workflowService
    .deleteSchedule({ namespace: options.namespace, scheduleId: GARDEN_SCHEDULE })
    .catch(() => undefined);
});

const turn = (number: number): Turn => ({ number, nonce: String(number).padStart(16, "0") });

describe("the register of a garden in Temporal", () => {
  it("takes a turn from the version that was read, and from no other", async () => {
    const register = createGardenRegister(garden);
    const none = await register.read();
    expect(none.turn).toBeUndefined();
    expect(await register.take(none, turn(1))).toBe(true);
    expect(await register.take(none, turn(2))).toBe(false);
    const first = await register.read();
    expect(first.turn).toEqual(turn(1));
    expect(await register.take(first, turn(2))).toBe(true);
    expect(await register.take(first, turn(3))).toBe(false);
    expect((await register.read()).turn).toEqual(turn(2));
  });

  it("takes one of several turns that come at once", async () => {
    const register = createGardenRegister(garden);
    await register.take(await register.read(), turn(1));
    const read = await register.read();
    const taken = await Promise.all([2, 3, 4, 5].map((number) => register.take(read, turn(number))));
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect((await register.read()).turn).toEqual(turn(2 + taken.indexOf(true)));
  });

  it("cannot be read or changed by the worker of a seed", async () => {
    const seed = createGardenRegister(await lab.connect(await lab.asSeed("seed-1")));
    await expect(seed.read()).rejects.toThrow(/may not call DescribeSchedule/);
  });
});

describe("a garden", () => {
  it("that was restored from a backup is refused while the other runs, until an operator decides for it", async () => {
    const original = createModelCluster();
    const processOf = (cluster: typeof original) => createGardenTurns(garden, cluster.client());
    await processOf(original).confirm();
    const copy = original.copy();
    await processOf(original).confirm();
    await processOf(original).confirm();
    await expect(processOf(copy).confirm()).rejects.toThrow(
      /^Temporal's namespace default is at turn 3-\w{16} of its garden, and this garden is at turn 1-\w{16}: this garden is a copy, or was restored from a backup/,
    );
    await expect(processOf(copy).check()).rejects.toThrow("perennial garden rebind");
    await processOf(original).check();
    const register = createGardenRegister(garden);
    const own = parseTurn(copy.memory().turn);
    if (own !== undefined) await register.rebind(await register.read(), own);
    await processOf(copy).check();
    await processOf(copy).confirm();
    await expect(processOf(original).confirm()).rejects.toThrow("this garden is a copy");
  });

  it("whose Temporal lost everything is bound again, and one whose Temporal was restored says so", async () => {
    const cluster = createModelCluster();
    const turns = () => createGardenTurns(garden, cluster.client());
    await turns().confirm();
    await turns().confirm();
    const { workflowService, options } = garden;
    const namespace = options.namespace;
    await workflowService.deleteSchedule({ namespace, scheduleId: GARDEN_SCHEDULE });
    await turns().confirm();
    expect(parseTurn(cluster.memory().turn)?.number).toBe(3);
    await workflowService.deleteSchedule({ namespace, scheduleId: GARDEN_SCHEDULE });
    const register = createGardenRegister(garden);
    await register.take(await register.read(), turn(1)); // as a restored database has it
    await expect(turns().confirm()).rejects.toThrow("Temporal was restored from a backup");
  });
});
