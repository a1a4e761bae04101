import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base } from "vitest";
import { Namespace, typeMeta } from "../../src/kube/index.ts";
import { moveAll, type MovePoint } from "./clusterctl-move.ts";
import { startControlPlane, type ControlPlane } from "./control-plane.ts";
import { applyCrds } from "./crds.ts";
import { manageGarden, namespace, startManagement, type Management, type Stops } from "./move-management.ts";

/** Two management clusters, and the garden of both. */
export interface MoveLab {
  readonly managements: readonly [Management, Management];
  readonly garden: ControlPlane;
  /**
   * Moves all Clusters by the real clusterctl, which is killed with SIGKILL at this write, and then goes on as an operator would. Says
   * at which write it died.
   */
  move(from: Management, to: Management, at?: MovePoint): Promise<string | undefined>;
}

/** Tests with clusterctl and two management clusters, neither of which is the garden. */
export const moveTest = movesWith(async (garden, place) => [
  await startManagement(garden, place),
  await startManagement(garden, place),
]);

/** The same; the first management cluster is the garden itself. */
export const moveFromGardenTest = movesWith(async (garden, place) => [
  await manageGarden(garden, place),
  await startManagement(garden, place),
]);

type Place = Parameters<typeof startManagement>[1];

function movesWith(start: (garden: ControlPlane, place: Place) => Promise<MoveLab["managements"]>) {
  // eslint-disable-next-line no-empty-pattern -- vitest reads here which other fixtures are needed
  return base.extend("lab", { scope: "file" }, async ({}, { onCleanup }): Promise<MoveLab> => {
    const stops: Stops = [];
    onCleanup(async () => {
      for (const stop of stops.reverse()) await stop();
    });
    const folder = await mkdtemp(join(tmpdir(), "perennial-move-"));
    stops.push(() => rm(folder, { recursive: true, force: true }));
    const garden = await startControlPlane();
    stops.push(() => garden.stop());
    await applyCrds(garden.client);
    await garden.client.apply({ ...typeMeta(Namespace), metadata: { name: namespace } });
    const managements = await start(garden, { folder, stops });
    return { managements, garden, move: (from, to, at) => moveAll(folder, from, to, at) };
  });
}
