import { WAIT_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { StepError } from "../failure.ts";
import { judge, judgeDeleted, verdict } from "./judgement.ts";
import { findPodTrouble } from "./pod-trouble.ts";
import type { Readiness } from "./readiness.ts";
import type { Reading, Registration, Waiter } from "./registration.ts";

/** Completes or fails an activity that waits; says whether there was one. Implemented by Temporal's client. */
export interface Completer {
  complete(waiter: Waiter): Promise<boolean>;
  fail(waiter: Waiter, error: StepError): Promise<boolean>;
}

/** Settles the waits that are registered in objects. */
export interface Settler {
  /** Looks at an object that has changed; does not wait for Temporal, so that a hundred waits are settled side by side. */
  look(object: KubeObject, event: ObjectEvent): void;
  /** Looks at an object for which an activity has just begun to wait: what was settled before found no activity. */
  lookForNewcomer(object: KubeObject): void;
  stop(): void;
}

type ObjectEvent = "added" | "updated" | "deleted";

/** What settling takes. */
export interface SettlerDeps {
  readonly client: KubeClient;
  readonly completer: Completer;
  /** The object as the watch knows it; undefined when it is gone. */
  readonly latest: (object: KubeObject) => KubeObject | undefined;
  /** What the annotation of an object is worth. */
  readonly read: (object: KubeObject) => Reading | undefined;
  readonly log: Logger;
}

/** In ms: when Temporal is told again what it could not be told. */
const RETRY_PERIOD = 1_000;

/** In ms: when an activity that was not found is looked for once more; not for a wait that is older than `RECENT`. */
const SECOND_LOOK = 5_000;
const RECENT = 60_000;

/** Node's timers fire at once beyond this. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Settles each wait once, and looks again by timers where an error has to last before it counts. */
export function createSettler({ client, completer, latest, read, log }: SettlerDeps): Settler {
  const settled = new Map<string, string>(); // by the object's uid: the wait that was settled last
  const timers = new Map<string, NodeJS.Timeout>();
  const refusals = new Map<string, string>(); // by the object's uid: what was logged of its annotation

  /** Says once of each text why it completes nothing. */
  const refuse = ({ kind, metadata }: KubeObject, reason: string) => {
    const { namespace, name, uid = "" } = metadata;
    const text = metadata.annotations?.[WAIT_ANNOTATION] ?? "";
    if (refusals.get(uid) === text) return;
    refusals.set(uid, text);
    log.warn({ kind, namespace, name, reason }, "a wait is not taken from an object's annotation");
  };

  const tell = async ({ waiter }: Registration, object: KubeObject, error: StepError | undefined) =>
    error === undefined
      ? await completer.complete(waiter)
      : await completer.fail(waiter, await withReason(client, error, object));

  /** `again`: no activity was found the last time, which happens once only. */
  const settle = async (registered: Registration, object: KubeObject, readiness: Readiness, again: boolean) => {
    const { uid = "" } = object.metadata;
    const key = keyOf(registered);
    if (settled.get(uid) === key) return;
    const outcome = verdict(registered, readiness);
    if (outcome === "wait") return;
    if (typeof outcome === "number") return scheduleLook(key, outcome, object);
    settled.set(uid, key);
    try {
      const found = await tell(registered, object, outcome === "reached" ? undefined : outcome);
      log.debug({ ...registered.waiter, found, reached: outcome === "reached" }, "wait settled");
      if (!found && !again && Date.now() - registered.since < RECENT) scheduleLook(key, SECOND_LOOK, object, true);
    } catch (error) {
      settled.delete(uid);
      scheduleLook(key, RETRY_PERIOD, object);
      throw error;
    }
  };

  /**
   * An activity that was not found has not begun to wait, or does so no more. Or its task was lost between Temporal and this
   * process, as happens where both are short of time: then it never asks here, but Temporal takes an answer by now.
   */
  const scheduleLook = (key: string, delay: number, object: KubeObject, again = false) => {
    clearTimeout(timers.get(key));
    const lookAgain = () => {
      timers.delete(key);
      if (again) settled.delete(object.metadata.uid ?? "");
      const now = latest(object);
      look(now ?? object, now ? "updated" : "deleted", again);
    };
    timers.set(key, setTimeout(lookAgain, Math.min(delay, LONGEST_TIMER)).unref());
  };

  const look = (object: KubeObject, event: ObjectEvent, again = false) =>
    void consider(object, event, again).catch((error: unknown) => log.warn({ err: error }, "wait not settled"));

  const consider = async (object: KubeObject, event: ObjectEvent, again: boolean) => {
    const reading = read(object);
    const deleted = event === "deleted";
    if (reading !== undefined && "refused" in reading) {
      refuse(object, reading.refused);
      const { unknown } = reading; // the watch of namespaces may be behind that of the object's kind
      if (unknown && Date.now() - unknown.since < RECENT) scheduleLook(keyOf(unknown), RETRY_PERIOD, object);
    } else if (reading !== undefined) {
      const judged = deleted ? judgeDeleted(reading.target) : judge(reading.target, object);
      await settle(reading, object, judged, again);
    }
    if (!deleted) return;
    settled.delete(object.metadata.uid ?? "");
    refusals.delete(object.metadata.uid ?? "");
  };

  return {
    look: (object, event) => look(object, event),
    lookForNewcomer(object) {
      settled.delete(object.metadata.uid ?? "");
      look(object, "updated");
    },
    stop: () => timers.forEach((timer) => clearTimeout(timer)),
  };
}

const keyOf = ({ waiter, since }: Registration): string => `${waiter.runId}/${waiter.activityId}/${since}`;

/** Why a Job failed is known to its pods alone; where they cannot be asked, that it failed has to do. */
async function withReason(client: KubeClient, error: StepError, object: KubeObject): Promise<StepError> {
  if (object.kind !== "Job") return error;
  const trouble = await findPodTrouble(client, object.metadata).catch(() => undefined);
  return trouble === undefined ? error : new StepError(`${error.message}: ${trouble}`, error.codes);
}
