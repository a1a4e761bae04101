import { CompleteAsyncError } from "../temporal.ts";
import { WAIT_ANNOTATION } from "../../api/annotations.ts";
import { Bastion, ManagedResource } from "../../api/index.ts";
import { ROLE_LABEL } from "../../api/labels.ts";
import { appliedKinds, definitionOf } from "../../api/extensions/kinds.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import {
  createReflector,
  Job,
  Pod,
  typeMeta,
  type KubeClient,
  type ObjectRef,
  type Reflector,
  type TypeRef,
} from "../../kube/index.ts";
import type { Logger } from "../../log.ts";
import type { WaitTarget } from "../index.ts";
import { isForItsEnd, judge } from "./judgement.ts";
import { hasDoneJob, JOB_UID_LABEL, type Readiness } from "./readiness.ts";
import { callingActivity, formatRegistration, readRegistration, waiterOf } from "./registration.ts";
import { createSettler, type Completer, type Settler } from "./settler.ts";
import { createSoon } from "./soon.ts";
import { shootUidOf } from "./shoot-of.ts";
import type { Signer } from "./signature.ts";

export type { Completer } from "./settler.ts";
export type { Waiter } from "./registration.ts";

/**
 * Waits that need no slot, no heartbeat and no history: the activity that changes an object also writes into it which
 * activity waits for what, and one watch per kind, shared by all flows, completes the waiting activity. A restarted
 * worker lists the objects and so finds every wait again.
 */
export interface Waits {
  start(): void;
  /** Resolves when every watch has seen what there is. */
  synced(): Promise<void>;
  /** The wait of a step of the calling workflow, for exactly so many objects. */
  group(step: string, size: number): WaitGroup;
  /** Answers with none of what the calling activity's step has to wait for where all of it is reached soon: see `soon.ts`. */
  soon(targets: readonly WaitTarget[]): Promise<WaitTarget[]>;
  /** Returns when all targets are reached; otherwise leaves the activity to be completed from outside. */
  wait(targets: readonly WaitTarget[]): void;
  /** How the object stands to the target, as last seen. */
  readiness(target: WaitTarget): Readiness;
  /** The object as its kind's watch has it, while that is current; undefined for what is not watched, too. */
  seen(ref: ObjectRef): KubeObject | undefined;
  stop(): Promise<void>;
}

/** The wait for all objects that one call of an activity changes. */
export interface WaitGroup {
  /**
   * The annotation that registers the wait; written together with the change it waits for. With the object's uid it is
   * worth nothing on a later object of that name.
   */
  registration(target: WaitTarget, uid?: string): Record<string, string>;
}

/** Watches the seed and completes the waits of all flows, of which `signer` tells that this worker has registered them. */
export function createWaits({
  client,
  completer,
  signer,
  log,
}: {
  client: KubeClient;
  completer: Completer;
  signer: Signer;
  log: Logger;
}): Waits {
  const latest = ({ apiVersion, kind, metadata }: KubeObject) =>
    watches.get({ apiVersion, kind }, metadata.name, metadata.namespace);
  const namespaceOf = (name: string) => watches.get({ apiVersion: "v1", kind: "Namespace" }, name);
  const read = (object: KubeObject) => readRegistration(object, { shootUid: shootUidOf(object, namespaceOf), signer });
  /** A Job is done as soon as a pod of it has succeeded. */
  const judgeSeen = (target: WaitTarget, object: KubeObject): Readiness => {
    const { namespace, uid } = object.metadata;
    const isDone = target.until === "completed" && watches.pods(namespace).some((pod) => hasDoneJob(pod, uid));
    return isDone ? { reached: true } : judge(target, object);
  };
  const settler = createSettler({ client, completer, latest, judge: judgeSeen, read, log });
  const watches = createWatches(client, settler, log);

  const seen = (target: WaitTarget) => watches.get(target, target.name, target.namespace);

  const readiness = (target: WaitTarget): Readiness => {
    const object = seen(target);
    if (object !== undefined) return judgeSeen(target, object);
    return isForItsEnd(target) ? { reached: true } : { reached: false, message: "it does not exist" };
  };

  return {
    start: watches.start,
    synced: watches.synced,
    group(step, of) {
      const since = Date.now();
      return {
        registration(target, uid) {
          const registration = { waiter: waiterOf(step), target, since, of, ...(uid !== undefined && { uid }) };
          return { [WAIT_ANNOTATION]: formatRegistration(registration, signer) };
        },
      };
    },
    readiness,
    soon: createSoon({ hold: settler.hold, isReached: (target) => readiness(target).reached }),
    seen: watches.seen,
    wait(targets) {
      if (targets.every((target) => readiness(target).reached)) return;
      settler.lookForNewcomer(callingActivity(), targets.map(seen));
      throw new CompleteAsyncError();
    },
    async stop() {
      settler.stop();
      await watches.stop();
    },
  };
}

/** One watch for each type of object that flows wait for, shared by all of them. */
function createWatches(client: KubeClient, settler: Settler, log: Logger) {
  const reflectors = new Map<string, Reflector<KubeObject>>(
    watched.map(({ labelSelector, ...type }) => [
      keyOf(type),
      createReflector(client, type, {
        ...(labelSelector === undefined ? {} : { labelSelector }),
        log,
        onEvent: ({ object, type: event }) => {
          settler.look(object, event);
          const job = jobDoneBy(object);
          if (job !== undefined) settler.look(job, "updated");
        },
      }),
    ]),
  );
  const jobs = reflectors.get(keyOf(typeMeta(Job)));
  /** The Job that is done by what has become of the Pod. */
  const jobDoneBy = (pod: KubeObject): KubeObject | undefined => {
    const uid = pod.metadata.labels?.[JOB_UID_LABEL];
    if (uid === undefined || !hasDoneJob(pod, uid)) return undefined;
    return jobs?.list(pod.metadata.namespace).find((job) => job.metadata.uid === uid);
  };
  const all = [...reflectors.values()];
  const watchOf = (type: TypeRef) => reflectors.get(keyOf(type));
  return {
    start: () => all.forEach((reflector) => reflector.start()),
    synced: async () => void (await Promise.all(all.map((reflector) => reflector.synced()))),
    stop: async () => void (await Promise.all(all.map((reflector) => reflector.stop()))),
    pods: (namespace?: string) => reflectors.get(keyOf(typeMeta(Pod)))?.list(namespace) ?? [],
    get: (type: TypeRef, name: string, namespace?: string) => watchOf(type)?.get(name, namespace),
    seen: (ref: ObjectRef) =>
      watchOf(ref)?.isCurrent() === true ? watchOf(ref)?.get(ref.name, ref.namespace) : undefined,
  };
}

const controlPlane = { labelSelector: `${ROLE_LABEL}=controlplane` };

/** Control planes are labelled, so that a seed's other workloads do not cross the wire. */
const watched: readonly (TypeRef & { readonly labelSelector?: string })[] = [
  ...appliedKinds.map((kind) => typeMeta(definitionOf(kind))),
  { apiVersion: "apps/v1", kind: "Deployment", ...controlPlane },
  { apiVersion: "apps/v1", kind: "StatefulSet", ...controlPlane },
  { apiVersion: "v1", kind: "Service", ...controlPlane },
  { apiVersion: "batch/v1", kind: "Job", ...controlPlane },
  { apiVersion: "v1", kind: "Pod", ...controlPlane },
  typeMeta(ManagedResource),
  typeMeta(Bastion),
  { apiVersion: "v1", kind: "Namespace", labelSelector: `${ROLE_LABEL}=shoot` },
];

const keyOf = ({ apiVersion, kind }: TypeRef): string => `${apiVersion}/${kind}`;
