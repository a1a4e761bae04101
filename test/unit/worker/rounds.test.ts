import { expect, test } from "vitest";
import type { KubeObject } from "../../../src/api/index.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { createRounds } from "../../../src/worker/rounds.ts";

const log = createLogger({ name: "test", level: "silent" });

test("Shoots that do not answer delay no visit to others", async () => {
  const silent = Array.from({ length: 10 }, (_, index) => `shoot--dev--silent${index}`);
  const others = Array.from({ length: 40 }, (_, index) => `shoot--dev--other${index}`);
  const { promise: answer, resolve: answerNow } = Promise.withResolvers<void>();
  const visited: string[] = [];
  const rounds = createRounds<true>(
    { seedClient: seedWith([...silent, ...others]), log },
    {
      async visit(namespace) {
        if (silent.includes(namespace)) await answer;
        visited.push(namespace);
        return true;
      },
      failure: "cannot visit",
    },
  );
  const round = rounds.round();
  await expect.poll(() => visited).toEqual(others);
  answerNow();
  await round;
  expect(new Set(visited)).toEqual(new Set([...silent, ...others]));
});

test("a visit that never ends keeps the next round from no other Shoot", async () => {
  const visited: string[] = [];
  const rounds = createRounds<true>(
    { seedClient: seedWith(["hangs", "other"]), log, longest: 20 },
    {
      async visit(namespace) {
        visited.push(namespace);
        return await (namespace === "hangs" ? new Promise<never>(() => {}) : Promise.resolve(true as const));
      },
      failure: "cannot visit",
    },
  );
  await rounds.round();
  await rounds.round();
  expect(visited.toSorted()).toEqual(["hangs", "other", "other"]);
});

test("no more Shoots are visited at once than a worker has room for, and none after it was stopped", async () => {
  const all = Array.from({ length: 100 }, (_, index) => `shoot--dev--${index}`);
  let visits = 0;
  const { promise: answer, resolve: answerNow } = Promise.withResolvers<void>();
  const rounds = createRounds<true>(
    { seedClient: seedWith(all), log },
    {
      async visit() {
        visits += 1;
        await answer;
        return true;
      },
      failure: "cannot visit",
    },
  );
  const round = rounds.round();
  await expect.poll(() => visits).toBe(16);
  rounds.stop();
  answerNow();
  await round;
  expect(visits).toBe(16);
});

/** A seed of which only the Shoots' namespaces are asked for. */
function seedWith(names: readonly string[]): KubeClient {
  const namespaces = names.map((name): KubeObject => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
  return { list: () => Promise.resolve(namespaces) } as Partial<KubeClient> as KubeClient;
}
