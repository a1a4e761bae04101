import { expect, it } from "vitest";
import type { Shoot } from "../../../src/api/index.ts";
import type { KubeObject } from "../../../src/api/schema/meta.ts";
import type { FlowProgress, StepProgress } from "../../../src/api/shoot/run.ts";
import { createContext } from "../../../src/cli/connection.ts";
import { followShoot, untilResumed } from "../../../src/cli/display/follow.ts";
import { fakeTerminal } from "./fake-terminal.ts";

const startedAt = "2026-11-21T10:00:00Z";

it("the follower shows a Shoot until it is ready, and then the last picture", async () => {
  const { exit, text } = await follow([shoot("Processing"), shoot("Succeeded")], [flow("running"), flow("done")]);
  expect(exit).toBe("done");
  expect(text).toMatch(/▸ etcd +running[\s\S]*✔ etcd +done[\s\S]*Shoot garden-dev\/local is ready\n$/);
});

it.each([
  ["arrives on another Seed", shoot("Succeeded", "seed-1"), shoot("Succeeded", "seed-2")],
  ["was on its way already", moving(), shoot("Succeeded", "seed-2")],
])("the follower says of a Shoot that %s which kubeconfigs have ended", async (_, before, after) => {
  const { text } = await follow([after], [undefined], { before });
  expect(text).toContain("Shoot garden-dev/local is ready\nA kubeconfig that names the API server by an address");
});

it("the follower says nothing of kubeconfigs where the Shoot stays", async () => {
  const { text } = await follow([shoot("Succeeded", "seed-1")], [undefined], { before: shoot("Processing", "seed-1") });
  expect(text).toBe("Shoot garden-dev/local is ready\n");
  expect((await follow([shoot("Succeeded", "seed-1")], [undefined])).text).toBe("Shoot garden-dev/local is ready\n");
});

it("the follower says of a Shoot that sleeps how to wake it up, and not that it is ready", async () => {
  const { spec, status, ...rest } = shoot("Succeeded");
  const asleep = {
    ...rest,
    spec: { ...spec, hibernation: { enabled: true } },
    status: { ...status, hibernated: true },
  };
  const wake = `kubectl -n garden-dev patch shoot local --type merge -p '{"spec":{"hibernation":{"enabled":false}}}'`;
  expect(await follow([asleep], [undefined])).toEqual({
    exit: "done",
    text: `Shoot garden-dev/local is hibernated\nIt has no nodes and no API server meanwhile; to wake it up: ${wake}\n`,
  });
});

it("the follower ends as failed when the Shoot waits for an operator, and says where to look", async () => {
  const { exit, text } = await follow([shoot("Failed")], [flow("parked")]);
  expect(exit).toBe("failed");
  expect(text).toContain("waits for an operator: perennial shoot describe garden-dev/local");
});

it("the follower takes a Shoot that is gone for done, another of its name too", async () => {
  expect((await follow([undefined], [undefined])).exit).toBe("done");
  const later = { ...shoot("Succeeded"), metadata: { ...shoot("Succeeded").metadata, uid: "another" } };
  expect((await follow([later], [undefined])).text).toContain("is gone");
});

it("the follower does not show an operation that had ended before", async () => {
  const ended = { ...flow("done"), finishedAt: "2026-11-21T10:01:00Z" };
  const { text } = await follow([shoot("Processing"), shoot("Succeeded")], [ended, ended]);
  expect(text).toBe("Shoot garden-dev/local is ready\n");
});

it("the follower says once that no worker answers, and goes on", async () => {
  const silent = new Error("cannot ask the flow", { cause: new Error("no worker polls") });
  const { exit, text } = await follow(
    [shoot("Processing"), shoot("Processing"), shoot("Succeeded")],
    [silent, silent, silent],
  );
  expect({ exit, text }).toEqual({
    exit: "done",
    text: "waiting: cannot ask the flow: no worker polls\nShoot garden-dev/local is ready\n",
  });
});

it("the follower gives up at the timeout, and says that the operation goes on", async () => {
  await expect(follow([shoot("Processing")], [undefined], { timeout: -1 })).rejects.toThrow("it goes on");
});

it("the follower ends with what to type when it is interrupted", async () => {
  const { exit, text } = await follow([shoot("Processing")], [undefined], { aborted: true });
  expect(exit).toBe("interrupted");
  expect(text).toContain("perennial shoot watch garden-dev/local");
});

it("the follower waits after a retry until the steps have left the state they waited in", async () => {
  const flows = scripted([flow("parked"), flow("parked"), flow("running")]);
  const following = {
    garden: { client: { read: async () => undefined } },
    flows: { progress: flows.next },
    shoot: shoot("Failed"),
  };
  await untilResumed(following, ["etcd"], new AbortController().signal);
  expect(flows.left()).toBe(0);
});

async function follow(
  shoots: readonly (Shoot | undefined)[],
  flows: readonly (FlowProgress | Error | undefined)[],
  {
    timeout,
    aborted = false,
    before = shoot("Processing"),
  }: { timeout?: number; aborted?: boolean; before?: Shoot } = {},
) {
  const terminal = fakeTerminal();
  const signal = aborted ? AbortSignal.abort() : new AbortController().signal;
  const { context } = createContext({ terminal, variables: {}, signal });
  const garden = { client: { read: scripted(shoots).next as <T extends KubeObject>() => Promise<T | undefined> } };
  const following = { garden, flows: { progress: scripted(flows).next }, shoot: before, timeout };
  return { exit: await followShoot(context, following), text: terminal.err.text() };
}

/** Answers one after the other, the last one for ever; an error is thrown. */
function scripted<T>(answers: readonly (T | Error)[]) {
  const left = [...answers];
  const next = async (): Promise<T> => {
    const answer = left.length > 1 ? left.shift() : left[0];
    if (answer instanceof Error) throw answer;
    return answer as T;
  };
  return { next, left: () => left.length - 1 };
}

function flow(state: StepProgress["state"]): FlowProgress {
  return {
    operation: "Create",
    title: "Reconcile Shoot",
    percent: 0,
    startedAt,
    steps: [{ name: "etcd", state, since: startedAt }],
  };
}

/** After the flip. */
function moving(): Shoot {
  const { spec, status, ...rest } = shoot("Processing", "seed-2");
  const lastOperation = {
    type: "Restore",
    state: "Processing",
    progress: 50,
    description: "",
    lastUpdateTime: startedAt,
  };
  const leadership = { record: "r", seed: "seed-2", previousSeed: "seed-1", epoch: 2, leaseSeconds: 60 };
  return { ...rest, spec: { ...spec, seedName: "seed-2" }, status: { ...status, leadership, lastOperation } } as Shoot;
}

function shoot(state: "Processing" | "Succeeded" | "Failed", seedName?: string): Shoot {
  return {
    apiVersion: "core.gardener.cloud/v1beta1",
    kind: "Shoot",
    metadata: { name: "local", namespace: "garden-dev", uid: "5f0c", generation: 1 },
    spec: { region: "local", kubernetes: { version: "1.34.4" }, provider: { type: "local" } },
    status: {
      observedGeneration: 1,
      ...(seedName && { seedName }),
      lastOperation: { type: "Create", state, progress: 50, description: "etcd", lastUpdateTime: startedAt },
    },
  };
}
