import { HANDOVER_ANNOTATION, HANDOVER_RENEWED_ANNOTATION } from "../api/annotations.ts";
import type { KubeObject } from "../api/index.ts";

/** How long, in ms, an announcement counts that nothing renews: the seed's worker renews it each minute while it counts. */
const LIFETIME = 10 * 60_000;

/** The announcements of handovers, as a fence has seen them. */
export interface Handovers {
  /** The epoch to which a planned migration hands over, by an announcement that was renewed in time. */
  announcedIn(namespace: KubeObject): number | undefined;
  /** Forgets all namespaces but these. */
  keep(namespaces: ReadonlySet<string>): void;
}

/**
 * Remembers since when each announcement has stood unchanged, by the process's monotonic clock: what the annotation says of
 * the time is not compared with any clock, as a seed that was restored from a backup says what it said then. A fence that
 * was restarted counts anew.
 */
export function createHandovers(now: () => number = () => performance.now(), lifetime = LIFETIME): Handovers {
  const seen = new Map<string, { readonly value: string; readonly since: number }>();
  return {
    announcedIn({ metadata: { name, uid = "", annotations = {} } }) {
      const { [HANDOVER_ANNOTATION]: handover, [HANDOVER_RENEWED_ANNOTATION]: renewed = "" } = annotations;
      if (handover === undefined) {
        seen.delete(name);
        return undefined;
      }
      const value = `${uid} ${handover} ${renewed}`;
      const before = seen.get(name);
      const since = before?.value === value ? before.since : now();
      seen.set(name, { value, since });
      return now() - since < lifetime ? Number(handover) : undefined;
    },
    keep(namespaces) {
      for (const name of seen.keys()) if (!namespaces.has(name)) seen.delete(name);
    },
  };
}
