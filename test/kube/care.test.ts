import { expect, vi } from "vitest";
import { Cluster, Shoot } from "../../src/api/index.ts";
import { ROLE_LABEL } from "../../src/api/labels.ts";
import { refTo, typeMeta, type KubeClient } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { createCare } from "../../src/worker/care.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";

const log = createLogger({ name: "test", level: "silent" });
const condition = (type: string, status: string) => ({
  ...{ type, status, reason: "Tested", message: "" },
  ...{ lastTransitionTime: "2026-01-01T10:00:00Z", lastUpdateTime: "2026-01-01T10:00:00Z" },
});

test("a seed's worker asks the garden of a Shoot when its health changes, and leaves others' conditions alone", async ({
  cluster,
}) => {
  const { client } = cluster;
  await applyGarden(client);
  const run = await createShoot(client, "cared");
  const namespace = { name: run.technicalID, labels: { [ROLE_LABEL]: "shoot" } };
  await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: namespace });
  const ref = refTo(Shoot, { namespace: run.namespace, name: run.name });
  const shoot = await client.read(ref);
  await client.apply({
    ...typeMeta(Cluster),
    metadata: { name: run.technicalID },
    spec: { shoot, seed: {}, cloudProfile: {} },
  } as never);
  const lastOperation = {
    type: "Reconcile",
    state: "Succeeded",
    progress: 100,
    description: "",
    lastUpdateTime: "2026-01-01T10:00:00Z",
  };
  const conditions = [condition("TheirsIsWell", "True")];
  await client.patch(ref, { status: { seedName: "seed-1", lastOperation, conditions } }, { subresource: "status" });
  const asked: string[] = [];
  const care = createCare({
    gardenClient: counting(client, asked),
    seedClient: client,
    seedName: "seed-1",
    shootClients: { get: () => Promise.resolve(client), close: () => Promise.resolve() } as never,
    log,
    period: 20,
  });
  const caring = care.run();
  const read = async () => (await client.read(ref))?.status?.conditions ?? [];

  await vi.waitFor(async () => expect((await read()).map(({ type }) => type)).toContain("APIServerAvailable"), 10_000);
  expect((await read()).find(({ type }) => type === "TheirsIsWell")).toEqual(conditions[0]);

  const before = asked.length;
  await new Promise((resolve) => setTimeout(resolve, 500)); // twenty rounds or so
  expect(asked.slice(before)).toEqual([]);

  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "sick", namespace: run.technicalID, labels: { [ROLE_LABEL]: "controlplane" } },
  };
  const template = { metadata: { labels: { app: "sick" } }, spec: { containers: [{ name: "sick", image: "none" }] } };
  await client.apply({ ...deployment, spec: { selector: { matchLabels: { app: "sick" } }, template } });
  await vi.waitFor(async () => {
    const healthy = (await read()).find(({ type }) => type === "ControlPlaneHealthy");
    expect(healthy?.message).toContain("sick");
  }, 10_000);
  care.stop();
  await caring;
});

/** The client, which writes down what is asked of it. */
function counting(client: KubeClient, asked: string[]): KubeClient {
  return new Proxy(client, {
    get: (target, name: keyof KubeClient) => {
      const value = target[name];
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        asked.push(name);
        return (value as (...all: unknown[]) => unknown)(...args);
      };
    },
  });
}
