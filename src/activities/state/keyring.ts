import type { PublicStateKey } from "../../api/core/state-key.ts";
import type { KubeClient } from "../../kube/index.ts";
import { StepError } from "../step-error.ts";
import type { StateKey } from "./keys.ts";
import { readGardenKeys } from "./garden-keys.ts";

/** What a seed's worker seals ShootStates with, and opens them: its own keys, and what the garden has published. */
export interface StateKeyring {
  /** The first is current, all open. */
  readonly own: readonly StateKey[];
  /** The garden's public keys, the current one first. Throws while the garden has published none. */
  garden(): Promise<readonly PublicStateKey[]>;
}

/** The keyring of a process; it asks the garden for its keys again after a minute. */
export function createKeyring(
  own: readonly StateKey[],
  { gardenClient, now = () => performance.now() }: { gardenClient: KubeClient; now?: () => number },
): StateKeyring {
  let known: { readonly keys: readonly PublicStateKey[]; readonly at: number } | undefined;
  return {
    own,
    async garden() {
      if (known !== undefined && now() - known.at < MEMORY) return known.keys;
      const at = now();
      const keys = await readGardenKeys(gardenClient);
      if (keys.length === 0)
        throw new StepError(
          "cannot seal a ShootState: the garden has published no key, without which no other seed could take the Shoot over; see whether the garden's worker runs",
        );
      known = { keys, at };
      return keys;
    },
  };
}

/** In ms. */
const MEMORY = 60_000;
