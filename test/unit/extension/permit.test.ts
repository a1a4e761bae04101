import { describe, expect, test } from "vitest";
import type { Actuator } from "../../../src/extension/actuator.ts";
import { checkedClient } from "../../../src/extension/checked-client.ts";
import type { ExtensionObject } from "../../../src/extension/extension-object.ts";
import type { Guard } from "../../../src/extension/guard.ts";
import { perform } from "../../../src/extension/perform.ts";
import { reconcileObject } from "../../../src/extension/reconcile-object.ts";
import { createRevisits } from "../../../src/extension/revisits.ts";
import type { KubeClient } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { extensionObject } from "./extension-object.ts";

const log = createLogger({ name: "test", level: "silent" });
const over = new Error("the lease is over");
const key = { namespace: "shoot--dev--i", name: "i" };

/** A cluster with one object, and what was written to it. Only what a look at an object calls is there. */
function clusterOf(object: ExtensionObject) {
  const writes: unknown[] = [];
  let current = object;
  const client = {
    read: async ({ kind }: { kind: string }) => (kind === "Cluster" ? { spec: { shoot: {} } } : current),
    async patch(_ref: unknown, patch: unknown) {
      writes.push(patch);
      return object;
    },
    apply: async (applied: unknown) => void writes.push(applied),
  } as unknown as KubeClient;
  const takeOver = () => void (current = extensionObject({ last: ["Create", "Processing"] }));
  return { client, writes, takeOver };
}

/** A guard whose permit ends when told so, by the clock alone: no signal has aborted yet, as after a pause. */
function endingGuard() {
  const state = { ended: false };
  const check = () => {
    if (state.ended) throw over;
  };
  const guard: Guard = {
    enter: async () => ({ signal: new AbortController().signal, check, release: () => undefined }),
  };
  return { guard, check, end: () => void (state.ended = true) };
}

const actuatorOf = (reconcile: Actuator<never>["reconcile"]) =>
  ({ reconcile, restore: reconcile, delete: reconcile, migrate: reconcile }) as never;

const run = (object: ExtensionObject, guard: Guard, reconcile: Actuator<never>["reconcile"]) => {
  const { client, writes } = clusterOf(object);
  const { signal } = new AbortController();
  const options = {
    client,
    kind: "Infrastructure",
    type: "local",
    log,
    guard,
    revisits: createRevisits(),
    signal,
  } as const;
  return { writes, done: reconcileObject({ ...options, actuator: actuatorOf(reconcile) }, key) };
};

/** One operation with a client that does not look at the permit itself. */
function performed(check: () => void, reconcile: Actuator<never>["reconcile"]) {
  const object = extensionObject({ operation: "reconcile" });
  const { client, writes, takeOver } = clusterOf(object);
  const { signal } = new AbortController();
  const task = {
    client,
    lateClient: client,
    log,
    kind: "Infrastructure",
    object,
    cluster: undefined,
    signal,
    check,
  } as const;
  return { writes, takeOver, done: perform({ ...task, operation: "Reconcile", actuator: actuatorOf(reconcile) }) };
}

const states = (writes: readonly unknown[]) => JSON.stringify(writes).match(/"state":"\w+"/g) ?? [];

describe("an operation whose permit has ended, though no signal says so yet", () => {
  test("is told by its own look", async () => {
    const { guard, end } = endingGuard();
    let looked: unknown;
    const { done } = run(extensionObject({ operation: "reconcile" }), guard, async (_object, _cluster, context) => {
      context.check();
      end();
      try {
        context.check();
      } catch (error) {
        looked = error;
      }
    });
    await expect(done).rejects.toBe(over);
    expect(looked).toBe(over);
  });

  test("writes nothing through the client that it was given", async () => {
    const { guard, end } = endingGuard();
    const object = extensionObject({ operation: "reconcile" });
    const { done, writes } = run(object, guard, async (_object, _cluster, { client }) => {
      end();
      await client.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "late" } });
    });
    await expect(done).rejects.toThrow();
    expect(JSON.stringify(writes)).not.toContain("late");
    expect(states(writes)).toEqual(['"state":"Processing"']);
  });

  test("still saves what it has made, which the next leader gets from there", async () => {
    const { check, end } = endingGuard();
    const { done, writes } = performed(check, async (_object, _cluster, { saveStatus }) => {
      end();
      await saveStatus({ state: "late" });
    });
    await expect(done).rejects.toBe(over);
    expect(writes).toContainEqual({ metadata: {}, status: { state: "late" } });
    expect(states(writes)).toEqual(['"state":"Processing"', '"state":"late"']);
  });

  test("loses what it has made once another replica acts on the object, whose own it would overwrite", async () => {
    const { check, end } = endingGuard();
    const { done, writes, takeOver } = performed(check, async () => {
      end();
      takeOver();
      return { state: "late" };
    });
    await expect(done).rejects.toThrow(
      "cannot save what was made for Infrastructure shoot--dev--i/i: another process acts on it",
    );
    expect(JSON.stringify(writes)).not.toContain("late");
  });

  test("has its result saved, and is not concluded by it", async () => {
    const { check, end } = endingGuard();
    const { done, writes } = performed(check, async () => {
      end();
      return { state: "made" };
    });
    await expect(done).rejects.toBe(over);
    expect(writes).toContainEqual({ metadata: {}, status: { state: "made" } });
    expect(states(writes)).toEqual(['"state":"Processing"', '"state":"made"']);
  });

  test("is not concluded, whatever client it has", async () => {
    const { check, end } = endingGuard();
    const { done, writes } = performed(check, async () => end());
    await expect(done).rejects.toBe(over);
    expect(states(writes)).toEqual(['"state":"Processing"']);
  });
});

test("a checked client looks before each call of each method, and may always be closed", async () => {
  let looks = 0;
  let called = 0;
  const methods = ["read", "list", "apply", "patch", "remove", "replaceStatus"] as const;
  const plain = Object.fromEntries(["close", ...methods].map((name) => [name, async () => void (called += 1)]));
  const client = checkedClient(plain as unknown as KubeClient, () => {
    looks += 1;
    throw over;
  }) as unknown as Record<string, () => Promise<void>>;
  for (const method of methods) expect(() => client[method]?.(), method).toThrow(over);
  expect([looks, called]).toEqual([methods.length, 0]);
  await client["close"]?.();
  expect(called).toBe(1);
});
