import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import type { KubeObject } from "../../../src/api/schema/meta.ts";
import { createEventRecorder, type KubeClient } from "../../../src/kube/index.ts";
import { createLogger } from "../../../src/log.ts";
import { eventually } from "../../support/eventually.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

test("a recorder remembers which object an Event is about, and keeps none of the rest of it", async () => {
  const written: KubeObject[] = [];
  const client = { create: async (event: KubeObject) => (written.push(event), event) } as unknown as KubeClient;
  const log = createLogger({ name: "test", level: "silent" });
  const recorder = createEventRecorder({ client, controller: "perennial.dev/test", instance: "test-1", log });
  const record = (): WeakRef<object> => {
    const status = { long: "x".repeat(10_000) };
    const metadata = { namespace: "fleet", name: "one", uid: "1", labels: { any: "label" } };
    const regarding = { apiVersion: "v1", kind: "ConfigMap", metadata, status };
    recorder.record({ regarding, reason: "Reconciled", action: "Reconcile", note: "everything is fine" });
    return new WeakRef(status);
  };
  const rest = record();
  await recorder.settled();
  const regarding = { apiVersion: "v1", kind: "ConfigMap", namespace: "fleet", name: "one", uid: "1" };
  expect(written).toEqual([expect.objectContaining({ involvedObject: regarding })]);
  await eventually(() => (collectGarbage(), rest.deref() === undefined));
});
