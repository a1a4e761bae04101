import type { Waits } from "../../src/activities/waits/waits.ts";
import { WAIT_ANNOTATION } from "../../src/api/annotations.ts";

/** Writes down which step waits, and for how many objects, without an activity to read it from. */
export const notedGroup: Waits["group"] = (step, size) => ({
  registration: () => ({ [WAIT_ANNOTATION]: `${step}/wait of ${size}` }),
});

/** Waits that are written down, and reached at once. */
export const notedWaits: Waits = {
  start() {},
  synced: async () => {},
  group: notedGroup,
  soon: async (targets) => [...targets],
  wait() {},
  readiness: () => ({ reached: true }),
  seen: () => undefined,
  stop: async () => {},
};
