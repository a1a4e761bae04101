import { expect, test } from "vitest";
import { createSlots } from "../../../src/worker/slots.ts";

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Work that goes on until it is told to end, by the name that it notes when it begins. */
function lab(limits: { atOnce: number; perOwner: number }) {
  const slots = createSlots(limits);
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const start = (owner: string, name: string) =>
    slots.run(owner, async () => {
      begun.push(name);
      await new Promise<void>((resolve, reject) =>
        ends.set(name, (error) => (error === undefined ? resolve() : reject(error))),
      );
      return name;
    });
  const end = async (name: string, error?: Error) => {
    await settled();
    ends.get(name)?.(error);
    await settled();
  };
  return { begun, start, end };
}

test("an owner whose work never ends leaves room for that of others", async () => {
  const { begun, start } = lab({ atOnce: 4, perOwner: 2 });
  for (let index = 0; index < 100; index++) void start("slow", `slow-${index}`);
  void start("other", "other");
  await settled();
  expect(begun).toEqual(["slow-0", "slow-1", "other"]);
});

test("of those that wait, owners come one after another, and each one's work in its order", async () => {
  const { begun, start, end } = lab({ atOnce: 1, perOwner: 1 });
  const all = ["a-1", "a-2", "a-3", "b-1", "b-2", "c-1"].map((name) => start(name.slice(0, 1), name));
  const order = ["a-1", "a-2", "b-1", "c-1", "a-3", "b-2"];
  for (const name of order) await end(name);
  expect(begun).toEqual(order);
  expect(await Promise.all(all)).toEqual(["a-1", "a-2", "a-3", "b-1", "b-2", "c-1"]);
});

test("work that fails gives its slot back, and its error to who asked", async () => {
  const { begun, start, end } = lab({ atOnce: 1, perOwner: 1 });
  const first = start("a", "first");
  const second = start("a", "second");
  const refused = expect(first).rejects.toThrow("no");
  await end("first", new Error("no"));
  await refused;
  expect(begun).toEqual(["first", "second"]);
  await end("second");
  expect(await second).toBe("second");
});
