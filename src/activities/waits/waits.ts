import { activityInfo, CompleteAsyncError } from "@temporalio/activity";
import type { KubeObject } from "../../api/schema/meta.ts";
import { createReflector, refOf, type KubeClient, type Reflector, type TypeRef } from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import type { WaitTarget } from "../index.ts";
import { StepError } from "../failure.ts";
import { findPodTrouble } from "./pod-trouble.ts";
import { addressed, completed, extensionReady, rolledOut, type ExtensionLike, type Readiness } from "./readiness.ts";

/** Completes or fails an activity that waits; says whether there was one. Implemented by Temporal's client. */
export interface Completer {
  complete(waiter: Waiter): Promise<boolean>;
  fail(waiter: Waiter, error: StepError): Promise<boolean>;
}

/** The activity that waits for an object, by the run of its workflow. */
export interface Waiter {
  readonly workflowId: string;
  readonly runId: string;
  readonly activityId: string;
}

/**
 * Waits that need no slot, no heartbeat and no history: whoever acts on an object also writes down in it who waits for
 * what, and one watch per kind, shared by all flows, completes the waiting activity. A restarted worker lists the
 * objects and so finds every wait again.
 */
export interface Waits {
  start(): void;
  /** Resolves when every watch has seen what there is. */
  synced(): Promise<void>;
  /** The annotation that registers the calling workflow's wait; written together with the change it waits for. */
  registration(target: WaitTarget): Record<string, string>;
  /** Returns when the target is reached; otherwise leaves the activity to be completed from outside. */
  wait(target: WaitTarget): void;
  /** How the object stands to the target, as last seen. */
  readiness(target: WaitTarget): Readiness;
  stop(): Promise<void>;
}

/** The annotation in which an object says who waits for it. */
export const WAIT_ANNOTATION = "perennial.dev/wait";

/** How long, in ms, until Temporal is told again what it could not be told. */
const RETRY_PERIOD = 1_000;

/** How long, in ms, until somebody who was not found is looked for once more; not for a wait that is older than `RECENT`. */
const SECOND_LOOK = 5_000;
const RECENT = 60_000;

/** Node's timers fire at once beyond this. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Watches the seed and completes the waits of all flows. */
export function createWaits(o: { client: KubeClient; completer: Completer; log: Logger }): Waits {
  const settled = new Map<string, string>(); // by the object's uid: the wait that was settled last
  const timers = new Map<string, NodeJS.Timeout>();

  /** `again`: nobody was found the last time, which happens once only. */
  const settle = async (registered: Registration, object: KubeObject, readiness: Readiness, again: boolean) => {
    const { uid = "" } = object.metadata;
    const key = `${registered.waiter.runId}/${registered.waiter.activityId}/${registered.since}`;
    if (settled.get(uid) === key) return;
    const outcome = verdict(registered, readiness);
    if (outcome === "wait") return;
    if (typeof outcome === "number") return scheduleLook(key, outcome, object);
    settled.set(uid, key);
    try {
      const found =
        outcome === "reached"
          ? await o.completer.complete(registered.waiter)
          : await o.completer.fail(registered.waiter, await withReason(outcome, object));
      o.log.debug({ ...registered.waiter, found, reached: outcome === "reached" }, "wait settled");
      if (!found && !again && Date.now() - registered.since < RECENT) scheduleLook(key, SECOND_LOOK, object, true);
    } catch (error) {
      settled.delete(uid);
      scheduleLook(key, RETRY_PERIOD, object);
      throw error;
    }
  };

  /** Why a Job failed is known to its pods alone; where they can't be asked, that it failed has to do. */
  const withReason = async (error: StepError, object: KubeObject): Promise<StepError> => {
    if (object.kind !== "Job") return error;
    const trouble = await findPodTrouble(o.client, object.metadata).catch(() => undefined);
    return trouble === undefined ? error : new StepError(`${error.message}: ${trouble}`, error.codes);
  };

  /**
   * Who was not found has not begun to wait, or does so no more. Or the task was lost between Temporal and this process,
   * as happens where both are short of time: then nobody here will ever ask, but Temporal takes an answer by now.
   */
  const scheduleLook = (key: string, delay: number, object: KubeObject, again = false) => {
    clearTimeout(timers.get(key));
    const lookAgain = () => {
      timers.delete(key);
      if (again) settled.delete(object.metadata.uid ?? "");
      const latest = reflectorOf(object)?.get(object.metadata.name, object.metadata.namespace);
      look(latest ?? object, latest ? "updated" : "deleted", again);
    };
    timers.set(key, setTimeout(lookAgain, Math.min(delay, LONGEST_TIMER)).unref());
  };

  /** Not awaited by the watch: a hundred waits that end at once are completed side by side. */
  const look = (object: KubeObject, event: "added" | "updated" | "deleted", again = false) =>
    void consider(object, event, again).catch((error: unknown) => o.log.warn({ err: error }, "wait not settled"));

  const consider = async (object: KubeObject, event: "added" | "updated" | "deleted", again: boolean) => {
    const registered = readRegistration(object);
    const deleted = event === "deleted";
    if (registered)
      await settle(registered, object, deleted ? gone(registered.target) : judge(registered.target, object), again);
    if (deleted) settled.delete(object.metadata.uid ?? "");
  };

  const reflectors = new Map<string, Reflector<KubeObject>>(
    watched.map(({ labelSelector, ...type }) => [
      keyOf(type),
      createReflector<KubeObject>(o.client, type, {
        ...(labelSelector === undefined ? {} : { labelSelector }),
        log: o.log,
        onEvent: ({ object, type: event }) => look(object, event),
      }),
    ]),
  );
  const reflectorOf = (type: TypeRef) => reflectors.get(keyOf(type));

  const seen = (target: WaitTarget) => reflectorOf(target)?.get(target.name, target.namespace);

  const readiness = (target: WaitTarget): Readiness => {
    const object = seen(target);
    if (object === undefined)
      return target.until === "gone" ? { reached: true } : { reached: false, message: "it does not exist" };
    return judge(target, object);
  };

  /** What was settled before anybody waited found nobody; now there is somebody. */
  const lookForNewcomer = (object: KubeObject) => {
    settled.delete(object.metadata.uid ?? "");
    look(object, "updated");
  };

  return {
    start: () => reflectors.forEach((reflector) => reflector.start()),
    synced: async () => void (await Promise.all([...reflectors.values()].map((reflector) => reflector.synced()))),
    registration: (target) => ({ [WAIT_ANNOTATION]: JSON.stringify(registrationOf(target)) }),
    readiness,
    wait(target) {
      if (readiness(target).reached) return;
      const object = seen(target);
      if (object !== undefined) lookForNewcomer(object);
      throw new CompleteAsyncError();
    },
    async stop() {
      timers.forEach((timer) => clearTimeout(timer));
      await Promise.all([...reflectors.values()].map((reflector) => reflector.stop()));
    },
  };
}

/** In one sentence: what is waited for, and what stands in its way. */
export function sentence(target: WaitTarget, readiness: Readiness): string {
  const ref = `${target.kind} ${target.namespace === undefined ? "" : `${target.namespace}/`}${target.name}`;
  return `${ref} is not ${words[target.until]}: ${readiness.reached ? "it was late" : readiness.message}`;
}

const words = {
  ready: "ready",
  gone: "gone",
  rolledOut: "rolled out",
  addressed: "reachable",
  completed: "done",
  nodesReady: "ready",
} as const;

/** What a registration says; `since` is ms since the epoch. */
interface Registration {
  readonly waiter: Waiter;
  readonly target: WaitTarget;
  readonly since: number;
}

function registrationOf(target: WaitTarget): Registration {
  const { workflowExecution } = activityInfo();
  if (workflowExecution === undefined) throw new Error("only an activity of a workflow can register a wait");
  const { workflowId, runId } = workflowExecution;
  return { waiter: { workflowId, runId, activityId: target.activityId }, target, since: Date.now() };
}

/** Anybody can write annotations: what isn't a registration of ours is no wait. */
function readRegistration(object: KubeObject): Registration | undefined {
  const text = object.metadata.annotations?.[WAIT_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    const { waiter, target, since } = JSON.parse(text) as Partial<Registration>;
    return waiter && target && typeof since === "number" && refersTo(target, object)
      ? { waiter, target, since }
      : undefined;
  } catch {
    return undefined;
  }
}

const refersTo = (target: WaitTarget, object: KubeObject): boolean => {
  const ref = refOf(object);
  return target.kind === ref.kind && target.name === ref.name && target.namespace === ref.namespace;
};

function judge(target: WaitTarget, object: KubeObject): Readiness {
  if ((object.metadata.generation ?? 0) < (target.generation ?? 0))
    return { reached: false, message: "an older version of it was seen" };
  if (target.until === "ready") return extensionReady(object, target);
  return judges[target.until]?.(object) ?? stillThere(object);
}

const judges: Readonly<Partial<Record<WaitTarget["until"], (object: KubeObject) => Readiness>>> = {
  rolledOut,
  addressed,
  completed,
};

function stillThere(object: KubeObject): Readiness {
  const { lastError } = (object as ExtensionLike).status ?? {};
  const finalizers = object.metadata.finalizers ?? [];
  const waitsFor = finalizers.length === 0 ? "nothing holds it" : `held by ${finalizers.join(", ")}`;
  return { reached: false, message: lastError?.description ?? waitsFor };
}

const gone = ({ until }: WaitTarget): Readiness =>
  until === "gone" ? { reached: true } : { reached: false, message: "it was deleted", error: { codes: [] } };

/** "reached", the error to fail with, the ms after which to look again, or "wait" for the next event. */
function verdict({ target, since }: Registration, readiness: Readiness): "reached" | "wait" | number | StepError {
  if (readiness.reached) return "reached";
  if (!readiness.error) return "wait";
  const remaining = since + target.severeAfter - Date.now();
  if (remaining > 0) return remaining;
  return new StepError(sentence(target, readiness), readiness.error.codes as StepError["codes"]);
}

const extensions = "extensions.gardener.cloud/v1alpha1";

/** Control planes are labelled, so that a seed's other workloads don't cross the wire. */
const watched: readonly (TypeRef & { labelSelector?: string })[] = [
  ...["Infrastructure", "ControlPlane", "Worker", "OperatingSystemConfig", "Network", "DNSRecord", "BackupEntry"].map(
    (kind) => ({
      apiVersion: extensions,
      kind,
    }),
  ),
  { apiVersion: "apps/v1", kind: "Deployment", labelSelector: "gardener.cloud/role=controlplane" },
  { apiVersion: "apps/v1", kind: "StatefulSet", labelSelector: "gardener.cloud/role=controlplane" },
  { apiVersion: "v1", kind: "Service", labelSelector: "gardener.cloud/role=controlplane" },
  { apiVersion: "batch/v1", kind: "Job", labelSelector: "gardener.cloud/role=controlplane" },
  { apiVersion: "v1", kind: "Pod", labelSelector: "gardener.cloud/role=controlplane" },
  { apiVersion: "v1", kind: "Namespace", labelSelector: "gardener.cloud/role=shoot" },
];

const keyOf = ({ apiVersion, kind }: TypeRef): string => `${apiVersion}/${kind}`;
