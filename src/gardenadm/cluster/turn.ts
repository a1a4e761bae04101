import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { StepScope } from "../../in-process/run.ts";
import { isAlreadyExists, isConflict, type KubeClient } from "../../kube/index.ts";
import { createLeaseRecord, type LeaseRecord } from "../../kube/lease-record.ts";
import { NAMESPACE } from "./control-plane.ts";
import { AwayError, OperatorError } from "../steps/fault.ts";
import type { ThisMachine } from "../machine/this-machine.ts";
import { machineId } from "../machine/machine-id.ts";
import { until } from "../steps/until.ts";

/** The right to change the nodes of a control plane, of which one command at a time has it. */
export interface ClusterTurn {
  /**
   * The scope of a step that needs the turn: aborted also when another command has taken it over, with an OperatorError, and when
   * another may have done so, with an AwayError. Throws these where it is so already.
   */
  within(scope: StepScope): StepScope;
  /** No other command has taken it over, nor may one have done so. */
  isHeld(): boolean;
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
  let since = 0;
  const acquire = async () => {
    since = performance.now();
    return await record.acquire().catch(othersFirst);
  };
  await until("another command changes the control plane", scope, acquire, {
    atMost: 900_000,
    advice: `Lease ${NAMESPACE}/${NAME} says on which node`,
  });
  return keepTurn(record, timing, since);
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
  const since = performance.now();
  return (await record.acquire().catch(othersFirst)) ? keepTurn(record, timing, since) : undefined;
}

const recordOf = (client: KubeClient, identity: string, { expires }: TurnTiming): LeaseRecord =>
  createLeaseRecord({ client, namespace: NAMESPACE, name: NAME, identity, expireAfter: expires });

/** `since` is when the call that took the turn was begun, by `performance.now()`. */
function keepTurn(record: LeaseRecord, { renews, expires }: TurnTiming, since: number): ClusterTurn {
  const [ending, lost] = [new AbortController(), new AbortController()];
  const hold = createHold(expires, since);
  const renew = async () => {
    const begun = performance.now();
    const isOurs = await record.acquire().catch(() => undefined);
    if (isOurs === true) hold.renew(begun);
    else if (isOurs === false) lost.abort(new OperatorError(TAKEN_OVER));
    else if (begun - hold.renewedAt() > LONGEST_AWAY * expires) lost.abort(new OperatorError(GIVEN_UP));
  };
  const renewing = (async () => {
    while (!ending.signal.aborted && !lost.signal.aborted) {
      await delay(renews, undefined, { signal: ending.signal }).catch(() => {});
      if (!ending.signal.aborted) await renew();
    }
  })();
  return {
    within(own) {
      const signal = AbortSignal.any([own.signal, lost.signal, hold.signal()]);
      signal.throwIfAborted();
      return { ...own, signal };
    },
    isHeld: () => !lost.signal.aborted && !hold.signal().aborted,
    async end() {
      ending.abort();
      await renewing;
      hold.end();
      await record.release().catch(() => {});
    },
  };
}

/** A signal that is aborted as soon as another may take the turn over, by the time of the last renewal; the next one has another. */
function createHold(expires: number, since: number) {
  let renewedAt = since;
  let silent = new AbortController();
  const watch = () =>
    setTimeout(() => silent.abort(new AwayError(AWAY, [], { within: 1_000 })), renewedAt + expires - performance.now());
  let timer = watch();
  return {
    signal: () => silent.signal,
    renewedAt: () => renewedAt,
    renew(at: number) {
      clearTimeout(timer);
      renewedAt = at;
      if (silent.signal.aborted) silent = new AbortController();
      timer = watch();
    },
    end: () => clearTimeout(timer),
  };
}

/** How many times as long as the turn lasts the API server may be away until the command ends. */
const LONGEST_AWAY = 20;

const AWAY = `this machine has no way to the API server for so long that another command may have taken the turn over, by Lease ${NAMESPACE}/${NAME}; it goes on when there is one`;

const GIVEN_UP = `this machine has no way to the API server: see whether that runs, and run the same command again`;

const TAKEN_OVER = `another command has taken the turn over, by Lease ${NAMESPACE}/${NAME}: it took this machine for lost, which had no way to the API server`;

function othersFirst(error: unknown): false {
  if (isConflict(error) || isAlreadyExists(error)) return false;
  throw error;
}
