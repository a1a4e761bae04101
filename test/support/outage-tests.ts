import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { Cluster, ShootControlPlane } from "../../src/api/cluster-api/index.ts";
import { refTo } from "../../src/kube/index.ts";
import { clusterOf } from "./cluster-api-objects.ts";
import { conditionOf } from "./cluster-conditions.ts";
import { eventually } from "./eventually.ts";
import { constantsOf, cutOff, expectAtWork, makeServing, outageTest as test, saidOf } from "./outages.ts";

const namespace = "garden-dev";

/** Tests of what is away for so long, in ms. Temporal is no part of it: the process has no client of it, and no setting for one. */
export function testOutages(ms: number): void {
  test("while the garden is away, the control plane says since when, and nothing that users reach changes", async ({
    lab,
  }) => {
    const key = { namespace, name: "sundered" };
    await makeServing(lab, key.name);
    const before = await constantsOf(lab, key.name);
    const began = Date.now();
    await cutOff(lab, "garden", ms, async () => {
      const said = await eventually(async () => {
        const synced = await saidOf(lab.cluster.client, ShootControlPlane, key, "ShootSynced");
        return synced?.reason === "GardenUnreachable" && synced;
      }, 60_000);
      expect(said.status).toBe("Unknown");
      const [, since = ""] = / since (\S+)$/.exec(said.message) ?? [];
      expect(Date.parse(since)).toBeGreaterThanOrEqual(began - 1_000);
      expect(Date.parse(said.lastTransitionTime)).toBeGreaterThanOrEqual(Date.parse(since));
    });
    expect(await saidOf(lab.cluster.client, ShootControlPlane, key, "Available")).toMatchObject({ status: "True" });
    expect(await constantsOf(lab, key.name)).toEqual(before);
    await eventually(
      async () =>
        expect(await saidOf(lab.cluster.client, ShootControlPlane, key, "ShootSynced")).toMatchObject({
          status: "True",
        }),
      120_000,
    );
    await expectAtWork(lab, key.name, 3);
    expect(await constantsOf(lab, key.name)).toEqual(before);
  });

  test("after the management cluster was away, the process leads again and goes on", async ({ lab }) => {
    const name = "cut";
    await makeServing(lab, name);
    const before = await constantsOf(lab, name);
    await cutOff(lab, "management", ms, async () => {
      await eventually(() => /lost|lease/i.test(lab.own.output()), 60_000);
    });
    expect(await constantsOf(lab, name)).toEqual(before);
    await expectAtWork(lab, name, 2);
    expect(await constantsOf(lab, name)).toEqual(before);
  });

  test("while our webhooks are away, Clusters are made, changed and deleted, and their Available heals afterwards", async ({
    lab,
  }) => {
    const { client } = lab.cluster;
    const key = { namespace, name: "hooked" };
    await makeServing(lab, key.name, { workerless: true });
    await client.create(clusterOf("leaving"));
    const available = (name: string) => conditionOf(client, { namespace, name }, "Available");
    await eventually(async () => expect(await available(key.name)).toMatchObject({ status: "True" }), 60_000);
    const before = await constantsOf(lab, key.name);
    await lab.own.kill();
    const end = sleep(ms);
    await client.create(clusterOf("hookless"));
    await client.patch(refTo(Cluster, key), { metadata: { annotations: { "test/touched": "yes" } } });
    await client.remove(refTo(Cluster, { namespace, name: "leaving" }));
    await eventually(async () => {
      expect(await available(key.name), "core's own word").toMatchObject({ status: "Unknown" });
      expect(await available("hookless")).toBeDefined();
      expect(await client.read(Cluster, { namespace, name: "leaving" })).toBeUndefined();
    }, 60_000);
    await end;
    expect(await constantsOf(lab, key.name)).toEqual(before);
    await lab.own.start();
    await eventually(async () => {
      expect(await available(key.name)).toMatchObject({ status: "True" });
      const ready = await conditionOf(client, { namespace, name: "hookless" }, "InfrastructureReady");
      expect(ready).toMatchObject({ status: "True", reason: "NotRequired" });
    }, 90_000);
    expect(await constantsOf(lab, key.name)).toEqual(before);
  });
}
