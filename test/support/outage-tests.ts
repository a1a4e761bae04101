import { expect } from "vitest";
import { ShootControlPlane } from "../../src/api/cluster-api/index.ts";
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
}
