import { randomBytes } from "node:crypto";
import { parseStateKeys, type StateKey } from "../../src/activities/state/keys.ts";

/** A key of one's own, to seal ShootStates with. */
export function newStateKeys(): readonly StateKey[] {
  return parseStateKeys(JSON.stringify({ keys: [{ id: "test", secret: randomBytes(32).toString("base64") }] }));
}
