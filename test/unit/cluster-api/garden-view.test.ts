import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { createGardenView, type GardenView } from "../../../src/cluster-api/shoot/garden-view.ts";
import { gardenLists, type World } from "../../../src/cluster-api/shoot/world.ts";
import {
  type ConfigMap,
  createReflector,
  defineKind,
  KubeError,
  type KubeClient,
  type Reflector,
  type TypeRef,
} from "../../../src/kube/index.ts";
import { eventually } from "../../support/eventually.ts";

const forbidden = new KubeError("cannot list reservations: forbidden", { status: 403, reason: "", retryable: true });
const lost = new KubeError("cannot list shoots: unreachable", { status: 0, reason: "Unreachable", retryable: true });

/** A garden, what it answers to the question for its version and to lists of a kind, and how it is looked at. */
interface Trial {
  readonly answers: Map<string, KubeError>;
  readonly view: GardenView;
  readonly told: () => number;
}

const stops: (() => unknown)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function begin(answers: Map<string, KubeError>, isApart = true): Trial {
  const garden = {
    server: "https://127.0.0.1",
    get: async () => answer(answers.get("/version")),
    snapshot: async ({ kind }: TypeRef) => (answer(answers.get(kind)), { items: [], resourceVersion: "1" }),
    async *watch(_: TypeRef, { signal }: { readonly signal: AbortSignal }) {
      if (!signal.aborted) await once(signal, "abort");
      yield* [];
    },
  } as unknown as KubeClient;
  const lists = gardenLists.map((list): [string, Reflector<ConfigMap>] => {
    const kind = defineKind<ConfigMap>({ apiVersion: "v1", kind: list, scope: "Namespaced" });
    return [list, createReflector(garden, kind, {})];
  });
  let changes = 0;
  const world = Object.fromEntries(lists) as unknown as World;
  const view = createGardenView({ garden, world, isApart, onChange: () => void (changes += 1), period: 20 });
  stops.push(
    () => view.stop(),
    ...lists.map(
      ([, one]) =>
        () =>
          one.stop(),
    ),
  );
  for (const [, one] of lists) one.start();
  view.start();
  return { answers, view, told: () => changes };
}

function answer(error: KubeError | undefined): void {
  if (error !== undefined) throw error;
}

test("a garden that gives all lists stands against nothing, and says so once", async () => {
  const { view, told } = begin(new Map());
  expect(view.knows(["shoots"]), "nothing is known before the first list").toBe(false);
  await eventually(() => expect(view.knows(gardenLists)).toBe(true));
  expect(view.obstacleTo(gardenLists)).toBeUndefined();
  await eventually(() => expect(told()).toBeGreaterThan(0));
});

test("a garden that refuses a list stands against what needs it, says since when, and against nothing else", async () => {
  const began = Math.floor(Date.now() / 1_000) * 1_000;
  const { view, answers, told } = begin(new Map([["reservations", forbidden]]));
  const obstacle = await eventually(() => {
    const found = view.obstacleTo(["reservations"]);
    expect(found?.reason).toBe("GardenUnreadable");
    return found;
  });
  const [, since = ""] =
    /^the garden has refused a list since (\S+): cannot list reservations: forbidden$/.exec(obstacle?.message ?? "") ??
    [];
  expect(Date.parse(since)).toBeGreaterThanOrEqual(began);
  expect(view.obstacleTo(["shoots", "kubeconfigs"])).toBeUndefined();
  expect(view.knows(["shoots", "kubeconfigs"])).toBe(true);
  expect(view.knows(["shoots", "reservations"])).toBe(false);
  const before = told();
  answers.clear();
  await eventually(() => expect(view.knows(["reservations"])).toBe(true));
  await eventually(() => expect(view.obstacleTo(["reservations"])).toBeUndefined());
  expect(told()).toBeGreaterThan(before);
});

test("a garden that does not answer stands against everything, since one moment, until its lists are there", async () => {
  const { view, answers } = begin(new Map(["/version", ...gardenLists].map((what) => [what, lost])));
  const obstacle = await eventually(() => {
    const found = view.obstacleTo([]);
    expect(found?.reason).toBe("GardenUnreachable");
    return found;
  });
  answers.delete("/version");
  await new Promise((resolve) => setTimeout(resolve, 100)); // several looks
  expect(view.obstacleTo(["shoots"]), "its lists do not come yet").toEqual(obstacle);
  answers.clear();
  await eventually(() => expect(view.obstacleTo(gardenLists)).toBeUndefined());
  await eventually(() => expect(view.knows(gardenLists)).toBe(true));
});

test("a garden that is the management cluster is not called unreachable, since that could not be written", async () => {
  const { view } = begin(new Map(["/version", ...gardenLists].map((what) => [what, lost])), false);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(view.obstacleTo(gardenLists)).toBeUndefined();
  expect(view.knows(["shoots"])).toBe(false);
});
