import { afterAll, expect } from "vitest";
import { Shoot } from "../../src/api/index.ts";
import { createShootStatusLabelController, statusOf } from "../../src/controllers/shoot-status-label.ts";
import { refTo, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";

const shootRef = refTo(Shoot, { namespace: "garden-dev", name: "labelled" });
const time = "2026-01-01T10:00:00Z";
const operation = (type: string, state = "Succeeded") => ({
  type,
  state,
  progress: 100,
  description: "",
  lastUpdateTime: time,
});
const condition = (type: string, status: string) =>
  ({ type, status, reason: "Tested", message: "", lastTransitionTime: time, lastUpdateTime: time }) as const;

let client: KubeClient;
let controller: ReturnType<typeof createShootStatusLabelController>;

test.beforeAll(async ({ cluster }) => {
  ({ client } = cluster);
  await applyGarden(client);
  await createShoot(client, "labelled");
  controller = createShootStatusLabelController({
    gardenClient: client,
    log: createLogger({ name: "test", level: "silent" }),
  });
  controller.start();
});
afterAll(async () => {
  await controller.stop();
  await client.remove(shootRef);
});

test("users select Shoots by their health, which follows their conditions", async () => {
  const selected = async (word: string) =>
    (await client.list(Shoot, { labelSelector: `shoot.gardener.cloud/status=${word}` })).map(
      ({ metadata }) => metadata.name,
    );
  const say = (status: object) => client.patch(shootRef, { status }, { subresource: "status" });
  await eventually(async () => expect(await selected("healthy")).toContain("labelled"));
  await say({ lastOperation: operation("Reconcile"), conditions: [condition("EveryNodeReady", "False")] });
  await eventually(async () => expect(await selected("unhealthy")).toContain("labelled"));
  await say({ conditions: [condition("EveryNodeReady", "Progressing")] });
  await eventually(async () => expect(await selected("progressing")).toContain("labelled"));
  const { generation } = (await client.read(shootRef))?.metadata ?? {};
  expect(generation).toBe(1);
});

test("a Shoot that is being made has conditions that say nothing yet", () => {
  const status = {
    lastOperation: operation("Create", "Processing"),
    conditions: [condition("EveryNodeReady", "False")],
  };
  expect(statusOf({ status: status as never })).toBe("healthy");
});

test.for([
  ["healthy", undefined, ["False"], []],
  ["unhealthy", "Create", ["False"], []],
  ["healthy", "Delete", ["False"], []],
  ["unhealthy", "Create", [], [{ description: "no quota" }]],
  ["unhealthy", "Reconcile", ["True"], [{ description: "no quota" }]],
  ["healthy", "Reconcile", ["True", "True"], []],
  ["healthy", "Restore", [], []],
  ["progressing", "Reconcile", ["True", "Progressing"], []],
  ["unknown", "Migrate", ["Unknown", "Progressing"], []],
  ["unhealthy", "Reconcile", ["False", "Unknown", "Progressing", "True"], []],
] as const)("a Shoot is %s after %s, with conditions %j and errors %j", ([word, type, statuses, lastErrors]) => {
  const conditions = statuses.map((status, index) => condition(`Condition${index}`, status));
  const status = { ...(type && { lastOperation: operation(type) }), conditions, lastErrors: [...lastErrors] };
  expect(statusOf({ status: status as never })).toBe(word);
});
