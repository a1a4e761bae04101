import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { StepScope } from "../in-process/run.ts";
import { isAlreadyExists, isConflict, type KubeClient } from "../kube/index.ts";
import { createLeaseRecord, type LeaseRecord } from "../kube/lease-record.ts";
import { NAMESPACE } from "./init/cluster.ts";
import { OperatorError } from "./init/fault.ts";
import type { ThisMachine } from "./init/machine.ts";
import { machineId } from "./machine-id.ts";
import { until } from "./until.ts";

/** The right to change the nodes of a control plane, of which one command at a time has it. */
export interface ClusterTurn {
  /** The scope of a step that needs the turn: aborted, with an OperatorError, also when another command has taken it over. */
  within(scope: StepScope): StepScope;
  /** Gives it back; where that fails, it runs out by itself. */
  end(): Promise<void>;
}

const NAME = "gardenadm-control-plane";

/** In ms. */
export interface TurnTiming {
  /** Another machine's command takes over from one that was silent for so long. */
  readonly expires: number;
  /** Of which some may fail. */
  readonly renews: number;
}

const TIMING: TurnTiming = { expires: 30_000, renews: 5_000 };

/**
 * Waits for the turn by a Lease, tells whose it is, and keeps it until it is given back. The lock of a machine lets one command at a
 * time work there: what an earlier one of this machine has left is taken over at once.
 */
export async function takeTurn(
  client: KubeClient,
  machine: Pick<ThisMachine, "root" | "hostName">,
  scope: StepScope,
  timing: TurnTiming = TIMING,
): Promise<ClusterTurn> {
  const record = recordOf(client, `${machine.hostName}_${await machineId(machine.root)}`, timing);
  const acquire = async () => await record.acquire().catch(othersFirst);
  await until("another command changes the control plane", scope, acquire, {
    atMost: 900_000,
    advice: `Lease ${NAMESPACE}/${NAME} says on which node`,
  });
  return keepTurn(record, timing);
}

/**
 * Takes the turn where no other has it, without waiting; undefined where another has. It is no command's of its machine: each call is
 * one of its own.
 */
export async function tryTurn(
  client: KubeClient,
  hostName: string,
  timing: TurnTiming = TIMING,
): Promise<ClusterTurn | undefined> {
  const record = recordOf(client, `${hostName}_${randomUUID()}`, timing);
  return (await record.acquire().catch(othersFirst)) ? keepTurn(record, timing) : undefined;
}

const recordOf = (client: KubeClient, identity: string, { expires }: TurnTiming): LeaseRecord =>
  createLeaseRecord({ client, namespace: NAMESPACE, name: NAME, identity, expireAfter: expires });

function keepTurn(record: LeaseRecord, { renews }: TurnTiming): ClusterTurn {
  const [ending, lost] = [new AbortController(), new AbortController()];
  const renewing = (async () => {
    while (!ending.signal.aborted && !lost.signal.aborted) {
      await delay(renews, undefined, { signal: ending.signal }).catch(() => {});
      const isOurs = ending.signal.aborted || (await record.acquire().catch(() => true));
      if (!isOurs) lost.abort(new OperatorError(TAKEN_OVER));
    }
  })();
  return {
    within: (own) => ({ ...own, signal: AbortSignal.any([own.signal, lost.signal]) }),
    async end() {
      ending.abort();
      await renewing;
      await record.release().catch(() => {});
    },
  };
}

const TAKEN_OVER = `another command has taken the turn over, by Lease ${NAMESPACE}/${NAME}: it took this machine for lost, which had no way to the API server`;

function othersFirst(error: unknown): false {
  if (isConflict(error) || isAlreadyExists(error)) return false;
  throw error;
}
