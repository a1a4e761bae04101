import { randomBytes } from "node:crypto";
import { beforeEach, expect } from "vitest";
import type { StateItem } from "../../src/activities/state/entry.ts";
import { createShootStates, type ShootStates } from "../../src/activities/state/shoot-state.ts";
import { ShootState } from "../../src/api/index.ts";
import { STATE_PART_LABEL } from "../../src/api/labels.ts";
import { statePartNames } from "../../src/api/names.ts";
import type { ShootRun } from "../../src/api/shoot/run.ts";
import { isAlreadyExists, refTo, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { test } from "../support/cluster-test.ts";
import { shootRun } from "../support/shoot-run.ts";
import { newKeyring } from "../support/state-keys.ts";

const garden = "garden-parts";
let kube: KubeClient;
let states: ShootStates;
let run: ShootRun;
let count = 0;

test.beforeAll(async ({ cluster }) => {
  kube = cluster.client;
  await kube.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: garden } });
  states = createShootStates({ gardenClient: kube, keys: newKeyring() });
});
beforeEach(() => {
  count += 1;
  run = shootRun({ name: `parts-${count}`, namespace: garden, uid: `uid-${count}` });
});

/** States of which each takes most of an object: no compression makes them smaller. */
const large = (...names: readonly string[]): StateItem[] =>
  names.map((name) => ({
    section: "extensions",
    fields: { kind: "Worker", name },
    content: { noise: randomBytes(490_000).toString("base64") },
  }));

/** What a writer that died before it had named it has left. */
const unnamed = (name: string): ShootState => ({
  ...typeMeta(ShootState),
  metadata: { name, namespace: garden, labels: { [STATE_PART_LABEL]: run.name } },
  spec: {},
});

const litter = async () => {
  for (const name of statePartNames(run.name))
    await kube.create(unnamed(name)).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
};

const listParts = () => kube.list(ShootState, { namespace: garden, labelSelector: `${STATE_PART_LABEL}=${run.name}` });

test("a ShootState finds room although writers that died have left every name in use", async () => {
  await litter();
  const items = large("a", "b", "c");
  await states.keep(run, items); // the first version of all
  expect(await states.read(run)).toEqual(items);
  expect(await listParts()).toHaveLength(2);

  await litter();
  const changed = large("a", "b", "c", "d");
  await states.keep(run, changed);
  expect(await states.read(run)).toEqual(changed);
  expect(await listParts()).toHaveLength(3);
});

test("a ShootState is not read with what another version has put under the name of a part", async () => {
  await states.keep(run, large("a", "b"));
  const [part] = await listParts();
  const name = part?.metadata.name ?? "";
  const ref = refTo(ShootState, { namespace: garden, name });
  await kube.patch(ref, { metadata: { finalizers: [] } });
  await kube.remove(ref);
  await kube.create(unnamed(name));
  await expect(states.read(run)).rejects.toThrow(`${name}, a part of it, is gone`);
});
