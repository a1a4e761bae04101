import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { BackupEntry, Seed } from "../../src/api/index.ts";
import { refTo } from "../../src/kube/index.ts";
import { ownClusterTest } from "../support/cluster-test.ts";
import { eventually } from "../support/eventually.ts";
import { createSeedAccessLab, namespace, shootRef, soon } from "../support/seed-access-lab.ts";
import { startSmallProcess } from "../support/small-heap.ts";

/*
 * A seed writes the status of its Seed, its Shoots and its BackupEntries past all webhooks, with fields of any name. The manager, without
 * which nothing is admitted in the garden, reads them for all seeds.
 */
const test = ownClusterTest({ crds: true });
const SHOOTS = 4;
/** In memory, fourteen times as much as on the wire. */
const filler = Array.from({ length: 400_000 }, () => []);
const at = "2026-01-01T00:00:00Z";
const conditions = [
  { type: "X", status: "True", reason: "x", message: "x", lastTransitionTime: at, lastUpdateTime: at, filler },
];

test("the manager has room for whatever a seed writes, while it runs", async ({ cluster }) => {
  const lab = await createSeedAccessLab(cluster);
  const names = Array.from({ length: SHOOTS }, (_, index) => `s${index}`);
  for (const name of names) await lab.place(name, "seed-1");
  const folder = await mkdtemp(join(tmpdir(), "perennial-filled-garden-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "kubeconfig"), cluster.kubeconfig);
  const start = async () => {
    const small = startSmallProcess("filled-garden-main.ts", { KUBECONFIG: join(folder, "kubeconfig") }, 128);
    onTestFinished(small.end);
    await eventually(() => expect(small.output()).toContain("synced"), 30_000);
    return small;
  };
  lab.start();
  const running = await start();
  const status = { subresource: "status" } as const;
  for (const { metadata } of await lab.admin.list(BackupEntry, { namespace }))
    await soon(() =>
      lab.seed1.patch(refTo(BackupEntry, { name: metadata.name, namespace }), { status: { filler } }, status),
    );
  await soon(() => lab.seed1.patch(refTo(Seed, { name: "seed-1" }), { status: { filler } }, status));
  for (const name of names) await soon(() => lab.seed1.patch(shootRef(name), { status: { conditions } }, status));
  await lab.stop();
  await delay(3_000);
  expect(running.isRunning(), running.output()).toBe(true);
  running.end();
});
