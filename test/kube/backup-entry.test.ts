import { expect } from "vitest";
import { backupEntryName } from "../../src/api/extensions/backup-entry.ts";
import { BackupEntry, Shoot } from "../../src/api/index.ts";
import { createBackupEntryController } from "../../src/controllers/backup-entry.ts";
import { refTo } from "../../src/kube/index.ts";
import { createLogger } from "../../src/log.ts";
import { test } from "../support/cluster-test.ts";
import { applyGarden, createShoot } from "../support/garden-objects.ts";
import { eventually } from "../support/eventually.ts";

const log = createLogger({ name: "test", level: "silent" });
const namespace = "garden-dev";

test("the manager says of a BackupEntry that is being deleted since when its Shoot is gone, and not before it is", async ({
  cluster: { client },
}) => {
  await applyGarden(client);
  const { uid, technicalID } = await createShoot(client, "kept");
  const name = backupEntryName(technicalID, uid);
  const ref = refTo(BackupEntry, { namespace, name });
  const spec = { bucketName: "bucket", seedName: "seed-1", shootRef: { kind: "Shoot", name: "kept", namespace } };
  const metadata = { namespace, name, finalizers: ["gardener"] };
  await client.apply<BackupEntry>({ apiVersion: "core.gardener.cloud/v1beta1", kind: "BackupEntry", metadata, spec });
  const controller = createBackupEntryController({ gardenClient: client, log, period: 20 });
  controller.start();
  const goneSince = async () => (await client.read(ref))?.metadata.annotations?.["perennial.dev/shoot-gone-since"];

  await client.remove(ref);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await goneSince()).toBeUndefined();
  // As a seed may write it: the Shoot is there nevertheless.
  await client.patch(ref, { spec: { shootRef: { name: "none" } } });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await goneSince()).toBeUndefined();

  const before = Math.floor(Date.now() / 1000) * 1000;
  await client.remove(refTo(Shoot, { namespace, name: "kept" }));
  await createShoot(client, "kept"); // another one of that name
  await eventually(async () => expect(Date.parse((await goneSince()) ?? "")).toBeGreaterThanOrEqual(before));
  const time = await goneSince();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await goneSince()).toBe(time);
  await controller.stop();
  await client.patch(ref, { metadata: { finalizers: [] } });
});
