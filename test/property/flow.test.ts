import fc from "fast-check";
import { expect, test } from "vitest";
import { sparedSteps } from "../../src/flow/spared.ts";
import { defineFlow, runFlow, type Step } from "../../src/flow/flow.ts";

/** What the steps of these tests do. */
type Work = (step: string) => Promise<void> | void;

const carryOut = async (work: Work, step: string) => work(step);
const never = { text: "never", holds: () => false };

test("a flow does exactly the steps that have no failed step before them, whatever the graph", async () => {
  const graph = fc.array(fc.record({ fails: fc.boolean(), after: fc.array(fc.nat(30), { maxLength: 4 }) }), {
    maxLength: 30,
  });
  await fc.assert(
    fc.asyncProperty(graph, async (nodes) => {
      const ran: string[] = [];
      const rows: Record<string, Step<object, Work>> = {};
      nodes.forEach(({ fails, after }, index) => {
        const above = [...new Set(after.filter((other) => other < index))].map((other) => `s${other}`);
        rows[`s${index}`] = {
          after: above,
          do: (step) => {
            ran.push(step);
            if (fails) throw new Error(step);
          },
        };
      });
      await runFlow(defineFlow("Random", rows), {}, { carryOut }).catch(() => {});
      const clean = (step: string): boolean =>
        (rows[step]?.after ?? []).every((before) => clean(before) && nodes[Number(before.slice(1))]?.fails === false);
      expect([...ran].sort()).toEqual(Object.keys(rows).filter(clean).sort());
    }),
    { numRuns: 300 },
  );
});

test("a survey spares exactly the steps that it found settled, and that neither run nor come after one that runs", () => {
  const node = fc.record({
    after: fc.array(fc.nat(30), { maxLength: 4 }),
    settled: fc.boolean(),
    skipped: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(node, { minLength: 1, maxLength: 30 }), fc.nat(29), (nodes, at) => {
      const names = nodes.map((_, index) => `s${index}`);
      const rows = nodes.map(({ after, skipped }, index) => ({
        do: "work",
        after: [...new Set(after.filter((other) => other < index))].map((other) => `s${other}`),
        when: skipped ? [never] : [],
      }));
      const flow = defineFlow("Random", Object.fromEntries(rows.map((row, index) => [`s${index}`, row])));
      const by = `s${at % nodes.length}`;
      const settled = new Set(names.filter((_, index) => nodes[index]?.settled));
      const ancestors = (name: string): string[] =>
        (flow.steps.get(name)?.after ?? []).flatMap((one) => [one, ...ancestors(one)]);
      const runs = (name: string) => {
        const over = name === by || ancestors(by).includes(name);
        return !over && !nodes[Number(name.slice(1))]?.skipped && !settled.has(name);
      };
      const beside = (name: string) => name !== by && !ancestors(by).includes(name) && !ancestors(name).includes(by);
      const mayBeSpared = (name: string) =>
        ancestors(name).includes(by) &&
        ![name, ...ancestors(name)].some((one) => runs(one) || beside(one)) &&
        !nodes[Number(name.slice(1))]?.skipped;
      expect([...sparedSteps(flow, {}, { by, settled })].sort()).toEqual(names.filter(mayBeSpared).sort());
    }),
    { numRuns: 500 },
  );
});

// Commands are matched with histories in their order, so a row that is skipped has to leave the others' alone.
test("a flow begins its steps in the same order with and without rows that are skipped, whatever the graph", async () => {
  const row = fc.record({
    after: fc.array(fc.nat(12), { maxLength: 3 }),
    between: fc.boolean(),
    beside: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 12 }), async (rows, ends) => {
      const plain: Record<string, Row> = {};
      const mixed: Record<string, Row> = {};
      for (const [index, { after: picked, between, beside }] of rows.entries()) {
        const after = [...new Set(picked.filter((one) => one < index).map((one) => `old${one}`))];
        plain[`old${index}`] = { after };
        if (between) mixed[`new${index}`] = { after, when: [never] };
        const through = beside ? [...after, `new${index}`] : [`new${index}`];
        mixed[`old${index}`] = { after: between ? through : after };
      }
      expect(await begun(mixed, ends)).toEqual(await begun(plain, ends));
    }),
  );
});

/** What decides when a step begins. */
type Row = Omit<Step<object, Work>, "do">;

/** The order in which steps begin; `ends` says which of the running ones ends next. */
async function begun(rows: Readonly<Record<string, Row>>, ends: readonly number[]): Promise<readonly string[]> {
  const names: string[] = [];
  const running: (() => void)[] = [];
  const work: Work = (step) => {
    names.push(step);
    return new Promise<void>((resolve) => void running.push(resolve));
  };
  const steps = Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, { ...row, do: work }]));
  const finished = runFlow(defineFlow("Random", steps), {}, { carryOut });
  for (let turn = 0; ; turn += 1) {
    await new Promise((resolve) => void setImmediate(resolve));
    if (running.length === 0) break;
    running.splice((ends[turn] ?? 0) % running.length, 1)[0]?.();
  }
  await finished;
  return names;
}
