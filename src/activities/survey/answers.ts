import { createHash } from "node:crypto";
import type { KubeObject } from "../../api/schema/meta.ts";
import { lasting } from "./differences.ts";

/**
 * What API servers have answered to dry runs that change nothing. Such an answer holds while the same is wanted and the
 * object is of the same version: what decides beside these, such as a webhook, shows within a day.
 */
export interface Answers {
  /** Whether it was answered that the object, as it is here, is as wanted; `cluster` is where it is. */
  hold(cluster: string, existing: KubeObject, wanted: KubeObject): boolean;
  /** Keeps such an answer. */
  keep(cluster: string, existing: KubeObject, wanted: KubeObject): void;
}

/** An answer holds for the version, and until then, in ms since the epoch. */
interface Answer {
  readonly version: string;
  readonly until: number;
}

/** No answers yet. They live in memory, as hashes, at most so many; `now` is ms since the epoch. */
export function createAnswers({ now = Date.now, most = MOST } = {}): Answers {
  const answers = new Map<string, Answer>();

  return {
    hold(cluster, existing, wanted) {
      const key = hashOf([cluster, lasting(wanted)]);
      const answer = answers.get(key);
      if (answer !== undefined && answer.until <= now()) answers.delete(key);
      return answer !== undefined && answer.until > now() && answer.version === versionOf(existing);
    },
    keep(cluster, existing, wanted) {
      const version = versionOf(existing);
      if (version === undefined) return;
      const key = hashOf([cluster, lasting(wanted)]);
      answers.delete(key); // the newest are last
      answers.set(key, { version, until: now() + trustOf(key) });
      for (const [oldest, { until }] of answers) {
        if (until > now() && answers.size <= most) break;
        answers.delete(oldest);
      }
    },
  };
}

/** Answers are some eighty for a Shoot, of 200 bytes each: enough for five thousand Shoots. */
const MOST = 400_000;

/** In ms: 18 to 24 hours, so that what was asked at once is not asked again at once. */
function trustOf(key: string): number {
  const spread = Buffer.from(key, "base64url").readUInt32BE() / 2 ** 32;
  return (18 + 6 * spread) * 3_600_000;
}

/** Which of the objects that ever had its name, and in which version; undefined for one that was not read from a server. */
function versionOf({ metadata: { uid = "", resourceVersion } }: KubeObject): string | undefined {
  return resourceVersion === undefined ? undefined : `${uid.slice(0, 8)} ${resourceVersion}`;
}

const hashOf = (content: unknown): string =>
  createHash("sha256").update(JSON.stringify(content)).digest("base64url").slice(0, 22);
