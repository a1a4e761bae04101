import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { dataPlaceOf, markData } from "../../../src/etcd-data/place.ts";
import { agentPlacesIn } from "../../../src/gardenadm/machine/agent-places.ts";
import { guardData } from "../../../src/gardenadm/mending/data-guard.ts";
import { noteBegun } from "../../../src/gardenadm/machine/begun-restore.ts";
import type { Logger } from "../../../src/log.ts";

test("data that a restore is at work on are left to it, and where that does not go on, the agent says what helps", async () => {
  const root = await mkdtemp(join(tmpdir(), "data-guard-"));
  onTestFinished(async () => await rm(root, { recursive: true }));
  await mkdir(dirname(dataPlaceOf("main", root).dataDir), { recursive: true });
  await markData(dataPlaceOf("main", root));
  await noteBegun(root, { from: "member", restored: [] });
  expect(await warningsOf(root)).toContainEqual({
    etcd: "main",
    reason: expect.stringContaining("run the same 'gardenadm restore --from member' again"),
  });
});

/** What the agent warns of until it has warned once. */
async function warningsOf(root: string): Promise<unknown[]> {
  const ending = new AbortController();
  const warnings: unknown[] = [];
  const log = { warn: (fields: unknown) => void warnings.push(fields) } as unknown as Logger;
  const identity = { root, node: "a", places: agentPlacesIn(root), adminKubeconfig: join(root, "none") };
  const guarding = guardData({ identity, log, signal: ending.signal });
  await expect.poll(() => warnings, { timeout: 10_000 }).not.toEqual([]);
  ending.abort();
  await guarding;
  return warnings;
}
