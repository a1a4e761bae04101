import { randomBytes } from "node:crypto";
import type { KubeObject } from "../api/schema/meta.ts";
import type { Logger } from "../log.ts";
import type { KubeClient } from "./client.ts";
import { isAlreadyExists, isNotFound } from "./errors.ts";
import { defineKind } from "./kinds.ts";
import { omitUndefined } from "../omit-undefined.ts";
import { refTo, typeMeta } from "./path.ts";
import { microTime, now } from "./time.ts";

/** Something that happened to an object, for the people who own it. */
export interface Occurrence {
  readonly regarding: KubeObject;
  readonly type?: "Normal" | "Warning";
  /** Why, in one CamelCase word: `ReconcileError`. */
  readonly reason: string;
  /** What we did, in one CamelCase word: `Reconcile`. */
  readonly action: string;
  /** One sentence; cut off at 1 kB. */
  readonly note: string;
}

/** Writes Events. What happens again within ten minutes counts up the series of its object and reason. */
export interface EventRecorder {
  /** Notes the occurrence and returns at once. An Event that cannot be written is logged: nothing may fail for its sake. */
  record(occurrence: Occurrence): void;
  /** Resolves when everything recorded so far was written. */
  settled(): Promise<void>;
}

/** Who writes Events: `controller` is a qualified name like `perennial.dev/manager`, `instance` the process. */
export interface Reporter {
  readonly client: KubeClient;
  readonly controller: string;
  readonly instance: string;
}

/** A recorder of Events. */
export function createEventRecorder(o: Reporter & { readonly log: Logger }): EventRecorder {
  const all = new Map<string, Series>();

  async function write(series: Series): Promise<void> {
    while (series.written < series.count) {
      const { count } = series;
      try {
        if (!(await writeSeries(series))) await o.client.create(eventOf(o, series));
      } catch (error) {
        const { regarding, reason } = series.latest;
        log.warn({ object: regarding.metadata.name, reason, err: error }, "event not written");
      }
      series.written = count;
    }
  }

  /** False when there is no Event yet that could count up; the API server forgets them after an hour. */
  async function writeSeries({ name, written, count, latest }: Series): Promise<boolean> {
    if (written === 0) return false;
    const at = new Date();
    const counted = { lastTimestamp: now(at), count, series: { count, lastObservedTime: microTime(at) } };
    try {
      await o.client.patch(refTo(CoreEvent, { namespace: namespaceOf(latest), name }), counted);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  const { log } = o;
  return {
    record(occurrence) {
      forgetOld(all);
      const key = keyOf(occurrence);
      const known = all.get(key);
      const again = known?.latest.note === occurrence.note;
      const series = again ? known : newSeries(occurrence);
      series.count++;
      series.at = Date.now();
      // A note cannot be changed once written: another one begins a series of its own.
      series.writing = Promise.all([known?.writing, series.writing]).then(() => write(series));
      all.set(key, series);
    },
    async settled() {
      await Promise.all([...all.values()].map((series) => series.writing));
    },
  };
}

/** Writes one Event under a name that tells it from all others: when it is written again, it stays the one that it was. */
export async function writeEvent(reporter: Reporter, name: string, latest: Occurrence): Promise<void> {
  try {
    await reporter.client.create(eventOf(reporter, { name, latest, count: 1 }));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

function eventOf(reporter: Reporter, { name, count, latest }: Pick<Series, "name" | "count" | "latest">): KubeObject {
  const { regarding, type = "Normal", reason, action, note } = latest;
  const { namespace, uid, resourceVersion } = regarding.metadata;
  const at = new Date();
  const eventTime = microTime(at);
  return {
    ...typeMeta(CoreEvent),
    metadata: { namespace: namespaceOf(latest), name },
    involvedObject: {
      apiVersion: regarding.apiVersion,
      kind: regarding.kind,
      name: regarding.metadata.name,
      ...omitUndefined({ namespace, uid, resourceVersion }),
    },
    ...{ type, reason, action, message: note.slice(0, 1024), count, eventTime },
    ...{ firstTimestamp: now(at), lastTimestamp: now(at) },
    reportingComponent: reporter.controller,
    reportingInstance: reporter.instance,
    ...(count > 1 ? { series: { count, lastObservedTime: eventTime } } : {}),
  };
}

/** Events of core have both generations of fields: `kubectl get events --sort-by=.lastTimestamp` goes by the earlier one, to the second. */
const CoreEvent = defineKind({ apiVersion: "v1", kind: "Event", scope: "Namespaced" });

const seriesLifetime = 10 * 60_000;

interface Series {
  readonly name: string;
  readonly latest: Occurrence;
  count: number;
  written: number;
  at: number;
  writing: Promise<void>;
}

/** Of the object its identity alone is remembered: what it says besides may be large, and a series lives for minutes. */
function newSeries({ regarding, ...occurrence }: Occurrence): Series {
  const { name, namespace, uid, resourceVersion } = regarding.metadata;
  const metadata = { name, ...omitUndefined({ namespace, uid, resourceVersion }) };
  const latest = { ...occurrence, regarding: { ...typeMeta(regarding), metadata } };
  const unique = `${name.slice(0, 230)}.${randomBytes(8).toString("hex")}`;
  return { name: unique, latest, count: 0, written: 0, at: Date.now(), writing: Promise.resolve() };
}

function keyOf({ regarding: { kind, metadata }, type, reason, action }: Occurrence): string {
  return [kind, metadata.namespace, metadata.name, metadata.uid, type, reason, action].join("/");
}

function namespaceOf({ regarding }: Occurrence): string {
  return regarding.metadata.namespace ?? "default";
}

function forgetOld(all: Map<string, Series>): void {
  for (const [key, { at }] of all) if (Date.now() - at > seriesLifetime) all.delete(key);
}
