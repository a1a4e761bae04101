import type { Client } from "@temporalio/client";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createGardenConfirmation } from "../../src/client/garden-binding.ts";
import { createGardenRegister, GARDEN_SCHEDULE } from "../../src/client/garden-register.ts";
import { parseRevision, type Revision } from "../../src/binding/revision.ts";
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

const revision = (number: number): Revision => ({ number, nonce: String(number).padStart(16, "0") });

describe("the register of a garden in Temporal", () => {
  it("takes a revision from the version that was read, and from no other", async () => {
    const register = createGardenRegister(garden);
    const none = await register.read();
    expect(none.revision).toBeUndefined();
    expect(await register.take(none, revision(1))).toBe(true);
    expect(await register.take(none, revision(2))).toBe(false);
    const first = await register.read();
    expect(first.revision).toEqual(revision(1));
    expect(await register.take(first, revision(2))).toBe(true);
    expect(await register.take(first, revision(3))).toBe(false);
    expect((await register.read()).revision).toEqual(revision(2));
  });

  it("takes one of several revisions that come at once", async () => {
    const register = createGardenRegister(garden);
    await register.take(await register.read(), revision(1));
    const read = await register.read();
    const taken = await Promise.all([2, 3, 4, 5].map((number) => register.take(read, revision(number))));
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect((await register.read()).revision).toEqual(revision(2 + taken.indexOf(true)));
  });

  it("cannot be read or changed by the worker of a seed", async () => {
    const seed = createGardenRegister(await lab.connect(await lab.asSeed("seed-1")));
    await expect(seed.read()).rejects.toThrow(/may not call DescribeSchedule/);
  });
});

describe("a garden", () => {
  it("that was restored from a backup is refused while the other runs, until an operator decides for it", async () => {
    const original = createModelCluster();
    const processOf = (cluster: typeof original) => createGardenConfirmation(garden, cluster.client());
    await processOf(original).confirm();
    const copy = original.copy();
    await processOf(original).confirm();
    await processOf(original).confirm();
    await expect(processOf(copy).confirm()).rejects.toThrow(
      /^Temporal's namespace default is at revision 3-\w{16} of its garden, and this garden is at revision 1-\w{16}: this garden is a copy, or was restored from a backup/,
    );
    await expect(processOf(copy).check()).rejects.toThrow("perennial garden rebind");
    await processOf(original).check();
    const register = createGardenRegister(garden);
    const own = parseRevision(copy.memory().revision);
    if (own !== undefined) await register.rebind(await register.read(), own);
    await processOf(copy).check();
    await processOf(copy).confirm();
    await expect(processOf(original).confirm()).rejects.toThrow("this garden is a copy");
  });

  it("whose Temporal lost everything is bound again, and one whose Temporal was restored says so", async () => {
    const cluster = createModelCluster();
    const revisions = () => createGardenConfirmation(garden, cluster.client());
    await revisions().confirm();
    await revisions().confirm();
    const { workflowService, options } = garden;
    const namespace = options.namespace;
    await workflowService.deleteSchedule({ namespace, scheduleId: GARDEN_SCHEDULE });
    await revisions().confirm();
    expect(parseRevision(cluster.memory().revision)?.number).toBe(3);
    await workflowService.deleteSchedule({ namespace, scheduleId: GARDEN_SCHEDULE });
    const register = createGardenRegister(garden);
    await register.take(await register.read(), revision(1)); // as a restored database has it
    await expect(revisions().confirm()).rejects.toThrow("Temporal was restored from a backup");
  });
});
