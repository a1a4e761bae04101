import { WAIT_ANNOTATION } from "../../api/annotations.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { createFairLimiter } from "../../fair-limiter.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import { StepError } from "../step-error.ts";
import type { WaitTarget } from "../index.ts";
import { judgeDeleted, summarize, verdict } from "./judgement.ts";
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
  /** Looks at the objects for which an activity has just begun to wait, as far as they are there: what was settled before found no activity. */
  lookForNewcomer(waiter: Waiter, awaited: readonly (KubeObject | undefined)[]): void;
  /**
   * Tells `ended`, instead of Temporal, when all objects have come to an end for which an activity is to wait that has not
   * begun. The answer ends that, and is told whether it need not begin any more.
   */
  hold(waiter: Waiter, ended: () => void): (isOver: boolean) => void;
  stop(): void;
}

type ObjectEvent = "added" | "updated" | "deleted";

/** What settling takes. */
export interface SettlerDeps {
  /** Asked for the pods of Jobs that have failed. */
  readonly client: Pick<KubeClient, "list">;
  readonly completer: Completer;
  /** The object as the watch knows it; undefined when it is gone. */
  readonly latest: (object: KubeObject) => KubeObject | undefined;
  /** How an object that is there stands to what is waited for. */
  readonly judge: (target: WaitTarget, object: KubeObject) => Readiness;
  /** What the annotation of an object is worth. */
  readonly read: (object: KubeObject) => Reading | undefined;
  readonly log: Logger;
}

/** In ms: when Temporal is told again what it could not be told. */
const RETRY_PERIOD = 1_000;

/** In ms: when an activity that was not found is looked for once more; not for a wait that is older than `RECENT`. */
const SECOND_LOOK = 5_000;
const RECENT = 60_000;

/** A worker that starts again finds all that was ever settled, and may not ask Temporal of everything at once. */
const MOST_TOLD_AT_ONCE = 20;

/** Node's timers fire at once beyond this. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** What is known of the objects that one activity waits for. */
interface Group {
  readonly waiter: Waiter;
  readonly since: number;
  /** How many they are. */
  of: number;
  /** What came of each, by its reference; one that is still on its way is missing. */
  readonly outcomes: Map<string, "reached" | Failed>;
  /** Uids of those that are still there. */
  readonly present: Set<string>;
  /** Whether Temporal has to be told, is being told, or knows. */
  state: "open" | "telling" | "told";
}

interface Failed {
  readonly error: StepError;
  readonly object: KubeObject;
}

/** Settles each wait once all its objects have come to an end, and looks again by timers where an error has to last before it counts. */
export function createSettler({ client, completer, latest, judge, read, log }: SettlerDeps): Settler {
  const groups = new Map<string, Group>(); // by the activity that waits
  const memberships = new Map<string, string>(); // by an object's uid: the activity that waits for it
  const refusals = new Map<string, string>(); // by an object's uid: what was logged of its annotation
  const timers = new Map<string, NodeJS.Timeout>(); // by an object's uid, or the activity that waits
  const holds = new Map<string, () => void>(); // by the activity that will wait: whom to tell instead
  const limited = createFairLimiter(MOST_TOLD_AT_ONCE);

  const later = (key: string, delay: number, action: () => void) => {
    clearTimeout(timers.get(key));
    const act = () => {
      timers.delete(key);
      action();
    };
    timers.set(key, setTimeout(act, Math.min(delay, LONGEST_TIMER)).unref());
  };

  const lookLater = (object: KubeObject, delay: number) =>
    later(uidOf(object), delay, () => {
      const now = latest(object);
      look(now ?? object, now ? "updated" : "deleted");
    });

  /** Says once of each text why it completes nothing. */
  const refuse = (object: KubeObject, reason: string) => {
    const { kind, metadata } = object;
    const { namespace, name } = metadata;
    const text = metadata.annotations?.[WAIT_ANNOTATION] ?? "";
    if (refusals.get(uidOf(object)) === text) return;
    refusals.set(uidOf(object), text);
    log.warn({ kind, namespace, name, reason }, "a wait is not taken from an object's annotation");
  };

  /** The group that a registration belongs to; undefined for one that a later call has replaced. */
  const groupOf = ({ waiter, since, of }: Registration): Group | undefined => {
    const key = keyOf(waiter);
    const known = groups.get(key);
    if (known !== undefined && known.since >= since) return known.since === since ? known : undefined;
    const group: Group = { waiter, since, of, outcomes: new Map(), present: new Set(), state: "open" };
    groups.set(key, group);
    return group;
  };

  const leave = (uid: string) => {
    const key = memberships.get(uid) ?? "";
    memberships.delete(uid);
    groups.get(key)?.present.delete(uid);
    forget(key);
  };

  /** A wait whose objects have all gone is over; others may still come to one that is open. */
  const forget = (key: string) => {
    const group = groups.get(key);
    if (group === undefined || group.present.size > 0 || group.state === "telling" || timers.has(key)) return;
    if (group.state === "told") return void groups.delete(key);
    later(key, RECENT, () => group.present.size === 0 && groups.get(key) === group && groups.delete(key));
  };

  const tell = async ({ waiter, outcomes }: Group) => {
    const failed = [...outcomes.values()].filter((outcome) => outcome !== "reached");
    if (failed.length === 0) return await completer.complete(waiter);
    const reasons = await Promise.all(failed.map(({ error, object }) => withReason(client, error, object)));
    const { message, codes } = summarize(reasons);
    return await completer.fail(waiter, new StepError(message, codes));
  };

  /**
   * Tells Temporal once every object has come to an end. An activity that was not found has not begun to wait, or does so
   * no more. Or its task was lost between Temporal and this process, as happens where both are short of time: then it never
   * asks here, but Temporal takes an answer by now. So it is looked for once more (`again`).
   */
  const settle = (key: string, again = false) => {
    const group = groups.get(key);
    if (group?.state !== "open" || group.outcomes.size < group.of) return;
    const held = holds.get(key);
    if (held !== undefined) return held();
    group.state = "telling";
    const reopen = (delay: number, isSecond: boolean) =>
      later(key, delay, () => {
        if (group.state === "told") group.state = "open";
        if (groups.get(key) === group) settle(key, isSecond);
      });
    limited("all", () => tell(group))
      .then((found) => {
        group.state = "told";
        log.debug({ ...group.waiter, found }, "wait settled");
        if (!found && !again && Date.now() - group.since < RECENT) reopen(SECOND_LOOK, true);
      })
      .catch((error: unknown) => {
        group.state = "open";
        log.warn({ err: error }, "wait not settled");
        reopen(RETRY_PERIOD, again);
      })
      .finally(() => forget(key));
  };

  /** Notes what has come of one object. */
  const note = (registration: Registration, object: KubeObject, deleted: boolean) => {
    const group = groupOf(registration);
    if (group === undefined) return;
    const { target, waiter } = registration;
    const [uid, key] = [uidOf(object), keyOf(waiter)];
    if (memberships.get(uid) !== key) leave(uid);
    memberships.set(uid, key);
    group.present.add(uid);
    const outcome = verdict(registration, deleted ? judgeDeleted(target) : judge(target, object));
    if (outcome === "reached") group.outcomes.set(refOf(target), outcome);
    else if (outcome instanceof StepError) group.outcomes.set(refOf(target), { error: outcome, object });
    else group.outcomes.delete(refOf(target));
    if (typeof outcome === "number") lookLater(object, outcome);
    settle(key);
  };

  const look = (object: KubeObject, event: ObjectEvent) => {
    const reading = read(object);
    const deleted = event === "deleted";
    if (reading !== undefined && "refused" in reading) {
      refuse(object, reading.refused);
      const { unknown } = reading; // the watch of namespaces may be behind that of the object's kind
      if (unknown && Date.now() - unknown.since < RECENT) lookLater(object, RETRY_PERIOD);
    } else if (reading !== undefined) note(reading, object, deleted);
    if (!deleted) return;
    leave(uidOf(object));
    refusals.delete(uidOf(object));
  };

  return {
    look,
    lookForNewcomer(waiter, awaited) {
      const key = keyOf(waiter);
      for (const object of awaited) if (object !== undefined) look(object, "updated");
      const group = groups.get(key);
      if (group === undefined) return; // the watch has not seen any registration yet
      group.of = awaited.length; // what had gone before it could be registered is not waited for
      if (group.state === "told") group.state = "open";
      settle(key);
    },
    hold(waiter, ended) {
      const key = keyOf(waiter);
      holds.set(key, ended);
      return (isOver) => {
        holds.delete(key);
        const group = groups.get(key);
        if (isOver && group !== undefined) group.state = "told";
        settle(key);
        forget(key);
      };
    },
    stop: () => timers.forEach((timer) => clearTimeout(timer)),
  };
}

const keyOf = ({ runId, activityId }: Waiter): string => `${runId}/${activityId}`;

const refOf = ({ kind, namespace = "", name }: WaitTarget): string => `${kind}/${namespace}/${name}`;

const uidOf = ({ metadata: { uid = "" } }: KubeObject): string => uid;

/** Why a Job failed is known to its pods alone; where they cannot be asked, that it failed has to do. */
async function withReason(client: Pick<KubeClient, "list">, error: StepError, object: KubeObject): Promise<StepError> {
  if (object.kind !== "Job") return error;
  const trouble = await findPodTrouble(client, object).catch(() => undefined);
  return trouble === undefined ? error : new StepError(`${error.message}: ${trouble.message}`, error.codes);
}
