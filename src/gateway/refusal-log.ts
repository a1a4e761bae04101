import type { Logger } from "../log.ts";

/** Logs refusals without letting callers fill the log. */
export interface RefusalLog {
  /** Logs the first refusal of this key in each period, and at its end how many more there were. */
  warn(key: string, fields: object): void;
  stop(): void;
}

/** Logs at most two lines per key and period, in ms. Keys must come from a bounded set. */
export function createRefusalLog(log: Logger, period = 30_000): RefusalLog {
  const repeated = new Map<string, { fields: object; count: number; timer: NodeJS.Timeout }>();
  return {
    warn(key, fields) {
      const known = repeated.get(key);
      if (known !== undefined) {
        known.count += 1;
        known.fields = fields;
        return;
      }
      log.warn(fields, "call refused");
      const summarize = () => {
        const { fields: last, count } = repeated.get(key) ?? { fields, count: 0 };
        repeated.delete(key);
        if (count > 0) log.warn({ ...last, count, period }, "more calls refused");
      };
      repeated.set(key, { fields, count: 0, timer: setTimeout(summarize, period).unref() });
    },
    stop() {
      for (const { timer } of repeated.values()) clearTimeout(timer);
      repeated.clear();
    },
  };
}
