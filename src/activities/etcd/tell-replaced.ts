import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { Shoot } from "../../api/index.ts";
import { SEED_WORKER_CONTROLLER } from "../../api/names.ts";
import { typeMeta, writeEvent, type KubeClient } from "../../kube/index.ts";
import { withoutSecrets } from "../../redaction.ts";
import type { TellReplaced } from "./repair.ts";

/** Writes an Event of the Shoot whose etcd has other data now. Nothing fails for the sake of an Event. */
export function tellReplaced(gardenClient: KubeClient): TellReplaced {
  const reporter = { client: gardenClient, controller: SEED_WORKER_CONTROLLER, instance: hostname() };
  return async ({ namespace, name, uid }, what) => {
    const occurrence = {
      regarding: { ...typeMeta(Shoot), metadata: { namespace, name, uid } },
      ...({ type: "Warning", reason: "EtcdDataReplaced", action: "Reconcile", note: withoutSecrets(what) } as const),
    };
    await writeEvent(reporter, `${name}.${randomBytes(8).toString("hex")}`, occurrence).catch(() => undefined);
  };
}
