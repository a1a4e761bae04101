import { addStateKey, parseStateKeys, type StateKey } from "../../src/activities/state/keys.ts";
import type { StateKeyring } from "../../src/activities/state/keyring.ts";

/** A new key of a holder of ShootStates, as its file has it; before the keys that it had. */
export function newStateKey(holder: string): StateKey {
  const [key] = parseStateKeys(addStateKey(holder));
  if (key === undefined) throw new Error("no key was made");
  return key;
}

/** The keyring of a seed's worker, with keys of its own unless told which, in a garden of its own unless told which. */
export function newKeyring({
  seed = "seed-1",
  own = [newStateKey(seed)],
  garden = [newStateKey("garden")],
}: { seed?: string; own?: readonly StateKey[]; garden?: readonly StateKey[] } = {}): StateKeyring {
  return { own, garden: async () => garden.map(({ publicKey }) => publicKey) };
}
