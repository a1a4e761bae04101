import { MACHINE_NAMESPACE_LABEL } from "../../api/labels.ts";
import { Worker } from "../../api/index.ts";
import { OperationRefused, type Guard } from "../../extension/index.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { Machines } from "../../local/machine/machines.ts";
import type { Logger } from "../../log.ts";
import { permitted } from "../permitted.ts";
import type { KeyedMutex } from "../keyed-mutex.ts";
import type { Runner } from "../volumes.ts";
import { createRounds } from "./rounds.ts";

/** The host's machines and the seed whose Workers they belong to; `mutex` is the Worker controller's. */
export interface MachineKeeperDeps {
  readonly client: KubeClient;
  readonly machines: Machines;
  readonly mutex: KeyedMutex;
  readonly guard: Guard;
  readonly log: Logger;
}

/** Boots machines of this seed's Workers that went down, as a cloud's own supervisor would; it never makes one. */
export function createMachineKeeper(deps: MachineKeeperDeps): Runner {
  const failure = "machines could not be looked after";
  return createRounds((signal) => bootDown(deps, signal), { period: PERIOD, failure, log: deps.log });
}

async function bootDown(
  { client, machines, mutex, guard, log }: MachineKeeperDeps,
  signal: AbortSignal,
): Promise<void> {
  const down = (await machines.list()).filter(
    ({ running, labels }) => !running && labels[MACHINE_NAMESPACE_LABEL] !== undefined,
  );
  if (down.length === 0) return;
  const workers = await client.list(Worker);
  const ours = new Map(workers.filter(isActive).map((worker) => [worker.metadata.namespace, worker]));
  for (const { name, labels } of down) {
    const namespace = labels[MACHINE_NAMESPACE_LABEL] ?? "";
    const object = ours.get(namespace);
    if (signal.aborted || object === undefined || mutex.isLocked(namespace)) continue;
    await mutex.runExclusive(namespace, async () => {
      log.info({ machine: name, namespace }, "machine is down");
      await permitted(guard, { object, cluster: undefined, type: "Reconcile" }, async (permit) => {
        permit.check();
        await machines.revive(name);
      }).catch((error: unknown) => {
        if (!(error instanceof OperationRefused)) throw error;
        log.info({ machine: name, namespace, reason: error.message }, "machine is left as it is");
      });
    });
  }
}

/** Whether a Worker's machines are this seed's to look after. */
export function isActive({ spec, metadata, status }: Worker): boolean {
  return spec.type === "local" && metadata.deletionTimestamp === undefined && status?.lastOperation?.type !== "Migrate";
}

/** Milliseconds. */
const PERIOD = 15_000;
