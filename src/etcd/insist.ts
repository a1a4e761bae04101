import { setTimeout as sleep } from "node:timers/promises";
import { EtcdError } from "./etcdctl.ts";
import { MembershipError } from "./membership-error.ts";
import { tellNews } from "../tell-news.ts";

/** Who waits: whether still, and how those who watch are told what for. */
export interface Waiting {
  readonly signal: AbortSignal;
  tell(message: string): void;
}

/** What is to be done, such as "promote member b", and how long, in ms, nothing may get better. */
export interface Task {
  readonly what: string;
  readonly within: number;
  /** Finds what is behind a failure of etcd's that may pass. */
  readonly explain?: (error: EtcdError) => Promise<string>;
}

/** What a look has found: the end, or what is in the way. The time begins anew with each new `progress`. */
export type Found<T> = { readonly done: T } | { readonly waitsFor: string; readonly progress?: string };

/**
 * Looks, and acts, until it is done. What passes by itself is waited for, within the task's time, and told; then, and for
 * every other failure of etcd's, there is a MembershipError. Throws the signal's reason when that is aborted.
 */
export async function insist<T>(task: Task, waiting: Waiting, look: () => Promise<Found<T>>): Promise<T> {
  let since = performance.now();
  const tell = tellNews(waiting.tell);
  let progress: string | undefined;
  for (;;) {
    const found = await lookOnce(task, waiting, look);
    if ("done" in found) return found.done;
    if (found.progress !== undefined && found.progress !== progress) {
      progress = found.progress;
      since = performance.now();
    }
    if (performance.now() - since >= task.within)
      throw new MembershipError(`cannot ${task.what}: ${found.waitsFor}; nothing changed for ${task.within / 1000} s`, {
        retryable: true,
      });
    tell(found.waitsFor);
    await sleep(PERIOD, undefined, { signal: waiting.signal }).catch(() => waiting.signal.throwIfAborted());
  }
}

/** In ms: a look costs a process or two. */
const PERIOD = 400;

async function lookOnce<T>(task: Task, { signal }: Waiting, look: () => Promise<Found<T>>): Promise<Found<T>> {
  signal.throwIfAborted();
  try {
    return await look();
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof EtcdError)) throw error;
    if (!error.passing) throw refusal(task.what, error);
    return { waitsFor: (await task.explain?.(error)) ?? `etcdctl says: ${error.message}` };
  }
}

/** A failure of etcd's as a caller is told of it. */
export function refusal(what: string, error: EtcdError): MembershipError {
  const { passing: retryable, message } = error;
  return new MembershipError(`cannot ${what}: etcdctl says: ${message}`, { retryable, cause: error });
}
