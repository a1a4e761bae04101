import { expect, test } from "vitest";
import type { KubeObject } from "../../../src/api/index.ts";
import type { Reporter } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { createSnapshotFailures } from "../../../src/worker/backup/snapshot-failures.ts";

const namespace = "shoot--dev--one";
const owner = { namespace: "garden-dev", name: "one", uid: "u" };

const job = (name: string, creationTimestamp: string, condition: "Complete" | "Failed"): KubeObject => ({
  ...{ apiVersion: "batch/v1", kind: "Job", metadata: { name, namespace, uid: name, creationTimestamp } },
  status: { conditions: [{ type: condition, status: "True", reason: "Test", message: "" }] },
});

test.each([
  ["of the same second", "2026-01-01T00:00:00Z"],
  ["that is older", "2025-12-31T23:59:00Z"],
])("a snapshot that failed stays the last when one %s is looked at once more", async (_, earlier) => {
  const log = createLogger({ name: "test", level: "silent" });
  const failures = createSnapshotFailures({ seedClient: { list: async () => [] }, reporter: {} as Reporter, log });
  await failures.note(job("etcd-backup-5", "2026-01-01T00:00:00Z", "Failed"), owner);
  await failures.note(job("etcd-backup-4", earlier, "Complete"), owner);
  expect(failures.readiness(namespace)).toMatchObject({ reached: false });
  await failures.note(job("etcd-backup-6", "2026-01-01T00:00:00Z", "Complete"), owner);
  expect(failures.readiness(namespace)).toEqual({ reached: true });
});
