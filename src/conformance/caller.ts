import { setTimeout as sleep } from "node:timers/promises";
import { CONFIRM_DELETION_ANNOTATION, OPERATION_ANNOTATION, TIMESTAMP_ANNOTATION } from "../api/annotations.ts";
import { extensionReady } from "../activities/waits/readiness.ts";
import type { ExtensionObject } from "../api/extensions/kinds.ts";
import { refOf, type KubeClient, type MergePatch } from "../kube/index.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import type { Chapter } from "./chapter.ts";
import type { Progress, Recording, Version } from "./recording.ts";

/** What the caller asks for in the annotation of an object. */
export type Request = "reconcile" | "migrate" | "restore" | "wait-for-state";

/** The name under which the trial writes. */
export const FIELD_MANAGER = "perennial-verify";

/** The gardenlet's side of the contract, for one object: asks, waits, and keeps what came of it. */
export interface Caller {
  /** Writes the object with a request; `spec` is laid over the object's own. */
  create(object: KubeObject, request: Request): Promise<ExtensionObject>;
  /** Asks anew, in a second in which nothing was answered before: times of answers are to the second. */
  ask(object: KubeObject, request: Request): Promise<ExtensionObject>;
  /** Asks anew at once. */
  insist(object: KubeObject, request: Request): Promise<ExtensionObject>;
  /** Changes the object without asking. */
  change(object: KubeObject, patch: MergePatch, subresource?: "status"): Promise<ExtensionObject>;
  /** Confirms the deletion, and deletes. */
  remove(object: KubeObject): Promise<ExtensionObject>;
  /** What came of a request when `check` holds, or when the time is over; told from an earlier request on, if that is given. */
  wait(asked: ExtensionObject, check: Check, timeout: number, since?: ExtensionObject): Promise<Chapter>;
  /** What came of a request within `ms`, whatever it is. */
  watch(asked: ExtensionObject, ms: number): Promise<Chapter>;
}

/** Whether what is waited for has come, by the versions since the request. */
export type Check = (versions: readonly Version[], asked: ExtensionObject) => Progress;

/** A caller that hears of the object through the recording. */
export function createCaller(client: KubeClient, recording: Recording): Caller {
  const options = { fieldManager: FIELD_MANAGER };
  const stamped = (request: Request) => ({
    [OPERATION_ANNOTATION]: request,
    [TIMESTAMP_ANNOTATION]: new Date().toISOString(),
  });
  const patch = async (object: KubeObject, change: MergePatch, subresource?: "status") =>
    (await client.patch(refOf(object), change, {
      ...options,
      ...(subresource && { subresource }),
    })) as unknown as ExtensionObject;

  const insist = (object: KubeObject, request: Request) =>
    patch(object, { metadata: { annotations: stamped(request) } });

  async function wait(asked: ExtensionObject, check: Check, timeout: number, since = asked): Promise<Chapter> {
    const began = Date.now();
    const progress = await recording.until(asked, (versions) => check(versions, asked), timeout);
    const end = progress.reached ? progress : { reached: false as const, obstacle: progress.message };
    return { asked: since, versions: recording.since(since), end, took: Date.now() - began };
  }

  return {
    async create(object, request) {
      const metadata = { ...object.metadata, annotations: stamped(request) };
      return (await client.create({ ...object, metadata }, options)) as unknown as ExtensionObject;
    },
    async ask(object, request) {
      await nextSecond();
      return await insist(object, request);
    },
    insist,
    change: patch,
    async remove(object) {
      const annotations = { [CONFIRM_DELETION_ANNOTATION]: "true", [TIMESTAMP_ANNOTATION]: new Date().toISOString() };
      const confirmed = await patch(object, { metadata: { annotations } });
      await client.remove(refOf(object));
      return confirmed;
    },
    wait,
    async watch(asked, ms) {
      const chapter = await wait(asked, () => ({ reached: false, message: "it is watched" }), ms);
      return { ...chapter, end: { reached: true } };
    },
  };
}

/** The caller waits until the controller is done with what was asked for (Gardener's health check). */
export const ready: Check = (versions, asked) => judge(versions, asked);

/** The same, after the controller was asked to let go. */
export const migrated: Check = (versions, asked) => judge(versions, asked, "migrate");

/** The same, after the controller was asked to take over. */
export const restored: Check = (versions, asked) => judge(versions, asked, "restore");

/** The object is not there any more. */
export const gone: Check = (versions) =>
  versions.at(-1)?.gone ? { reached: true } : { reached: false, message: "the object is still there" };

/** The controller has reported an error since it was asked. */
export const inError: Check = (versions) =>
  versions.slice(1).some(({ object: { status } }) => status?.lastError ?? status?.lastOperation?.state === "Error")
    ? { reached: true }
    : { reached: false, message: "no error was reported" };

const nextSecond = () => sleep(1_000 - (Date.now() % 1_000));

function judge(versions: readonly Version[], asked: ExtensionObject, request?: "migrate" | "restore"): Progress {
  const last = versions.at(-1);
  if (last === undefined || last.gone) return { reached: false, message: "the object is gone" };
  const timestamp = asked.metadata.annotations?.[TIMESTAMP_ANNOTATION];
  return extensionReady(last.object, { timestamp, ...(request && { asked: request }) });
}
