import fc from "fast-check";
import { expect, test } from "vitest";
import { BoundElsewhere } from "../../src/binding/bound-elsewhere.ts";
import { parseRevision } from "../../src/binding/revision.ts";
import { createModelCluster, createModelRegister, createModelBinding, type Access } from "../support/binding-model.ts";

/** How many times each process confirms; each time is due for a revision. */
const rounds = fc.integer({ min: 1, max: 4 });

const accessOf =
  (s: fc.Scheduler): Access =>
  (what, act) =>
    s.schedule(Promise.resolve(), what).then(act);

/** Like `accessOf`, for a process that is killed before one of its accesses, and never continues. */
const killedAfter = (s: fc.Scheduler, accesses: number): Access => {
  let left = accesses;
  return async (what, act) => {
    if (left-- <= 0) return await new Promise<never>(() => {});
    return await accessOf(s)(what, act);
  };
};

/** A process whose every confirmation takes a revision. */
const impatient = (time = { now: 0 }) => ({ wallClock: () => (time.now += 10 * 60_000) });

test("processes of one cluster never refuse one another, wherever they are killed and in whatever order they act", async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(fc.nat(12), { maxLength: 4 }), rounds, async (s, kills, times) => {
      const [cluster, register] = [createModelCluster(), createModelRegister()];
      for (const accesses of kills) {
        const killed = createModelBinding(cluster, register, { access: killedAfter(s, accesses), ...impatient() });
        void killed.confirm();
      }
      const living = [1, 2, 3].map(async () => {
        const revisions = createModelBinding(cluster, register, { access: accessOf(s), ...impatient() });
        for (let time = 0; time < times; time += 1) await revisions.confirm();
      });
      const [ends] = await Promise.all([Promise.allSettled(living), s.waitFor(Promise.allSettled(living))]);
      expect(ends.filter(({ status }) => status === "rejected")).toEqual([]);
      expect(cluster.memory().refused).toBeUndefined();
    }),
  );
});

test("a copy that is older than two revisions is refused, and the original never is", async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.nat(12), async (s, accesses) => {
      const [original, register] = [createModelCluster(), createModelRegister()];
      const revisions = createModelBinding(original, register, impatient());
      await revisions.confirm();
      // The copy may be taken in the middle of a revision.
      const killed = createModelBinding(original, register, { access: killedAfter(s, accesses), ...impatient() });
      void killed.confirm();
      await s.waitIdle();
      const copy = original.copy();
      for (let revision = 0; revision < 2; revision += 1) await revisions.confirm();
      const late = createModelBinding(copy, register, { access: accessOf(s), ...impatient() });
      const beside = createModelBinding(original, register, { access: accessOf(s), ...impatient() });
      const both = Promise.allSettled([late.confirm(), beside.confirm()]);
      await s.waitFor(both);
      const [refused, confirmed] = await both;
      expect(refused).toMatchObject({ status: "rejected" });
      expect(confirmed).toEqual({ status: "fulfilled", value: undefined });
      expect(copy.memory().refused).toContain("cluster behind");
      expect(original.memory().refused).toBeUndefined();
    }),
  );
});

test("of two copies of the same age, one goes on and the other is refused", async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), async (s) => {
      const [one, register] = [createModelCluster(), createModelRegister()];
      await createModelBinding(one, register, impatient()).confirm();
      const clusters = [one, one.copy()];
      const processes = clusters.map((cluster) =>
        createModelBinding(cluster, register, { access: accessOf(s), ...impatient() }),
      );
      const both = Promise.all(
        processes
          .map(async (revisions) => {
            for (let time = 0; time < 3; time += 1) await revisions.confirm();
          })
          .map((end) =>
            end.then(
              () => true,
              (error: unknown) => !(error instanceof BoundElsewhere),
            ),
          ),
      );
      await s.waitFor(both);
      // Whoever was faster, the last to look finds out.
      const ends = await Promise.allSettled(processes.map(async (revisions) => await s.waitFor(revisions.confirm())));
      expect(ends.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    }),
  );
});

test("the cluster that an operator decides for goes on, and the other is refused from then on", async () => {
  const [original, register] = [createModelCluster(), createModelRegister()];
  const revisions = createModelBinding(original, register, impatient());
  await revisions.confirm();
  const copy = original.copy();
  for (let revision = 0; revision < 5; revision += 1) await revisions.confirm();
  const restored = createModelBinding(copy, register, impatient());
  await expect(restored.confirm()).rejects.toThrow("cluster behind");
  const own = parseRevision(copy.memory().revision);
  const client = register.client();
  if (own !== undefined) await client.rebind(await client.read(), own);
  await restored.confirm();
  await restored.confirm();
  expect(copy.memory().refused).toBeUndefined();
  await expect(revisions.confirm()).rejects.toThrow("cluster behind");
});

test("a cluster that remembers no revision gets one by which an operator can decide for it", async () => {
  const [original, register] = [createModelCluster(), createModelRegister()];
  const revisions = createModelBinding(original, register, impatient());
  await revisions.confirm();
  const other = createModelCluster();
  const fresh = createModelBinding(other, register, impatient());
  await expect(fresh.confirm()).rejects.toThrow(BoundElsewhere);
  const own = parseRevision(other.memory().next);
  const client = register.client();
  if (own !== undefined) await client.rebind(await client.read(), own);
  await fresh.confirm();
  await expect(revisions.confirm()).rejects.toThrow("cluster behind");
});

test("a register that was restored from a backup is told from a cluster that was", async () => {
  const [cluster, register] = [createModelCluster(), createModelRegister()];
  const revisions = createModelBinding(cluster, register, impatient());
  await revisions.confirm();
  const kept = register.keep();
  for (let revision = 0; revision < 3; revision += 1) await revisions.confirm();
  register.goBack(kept);
  await expect(revisions.confirm()).rejects.toThrow("register behind");
  expect(cluster.memory().refused).toBeUndefined();
});
