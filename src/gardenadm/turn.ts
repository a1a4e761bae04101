import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { StepScope } from "../in-process/run.ts";
import { isAlreadyExists, isConflict, type KubeClient } from "../kube/index.ts";
import { createLeaseRecord } from "../kube/lease-record.ts";
import { NAMESPACE } from "./init/cluster.ts";
import { until } from "./until.ts";

/** The right to change the nodes of a control plane, of which one command at a time has it. */
export interface ClusterTurn {
  /** Gives it back; where that fails, it runs out by itself. */
  end(): Promise<void>;
}

const NAME = "gardenadm-control-plane";

/** In ms: another command takes over from one that was silent for so long. */
const EXPIRES = 30_000;

/** In ms, of which some may fail. */
const RENEWS = 5_000;

/** Waits for the turn by a Lease, tells whose it is, and keeps it until it is given back. */
export async function takeTurn(client: KubeClient, hostName: string, scope: StepScope): Promise<ClusterTurn> {
  const identity = `${hostName}_${randomUUID()}`;
  const record = createLeaseRecord({ client, namespace: NAMESPACE, name: NAME, identity, expireAfter: EXPIRES });
  const acquire = async () => await record.acquire().catch(othersFirst);
  await until("another command changes the control plane", scope, acquire, {
    atMost: 900_000,
    advice: `Lease ${NAMESPACE}/${NAME} says on which node`,
  });
  const ending = new AbortController();
  const renewing = (async () => {
    while (!ending.signal.aborted) {
      await delay(RENEWS, undefined, { signal: ending.signal }).catch(() => {});
      if (!ending.signal.aborted) await record.acquire().catch(() => false);
    }
  })();
  return {
    async end() {
      ending.abort();
      await renewing;
      await record.release().catch(() => {});
    },
  };
}

function othersFirst(error: unknown): false {
  if (isConflict(error) || isAlreadyExists(error)) return false;
  throw error;
}
