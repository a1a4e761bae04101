import { join } from "node:path";
import { addStateKey } from "../../activities/state/keys.ts";
import type { Environment } from "./environment.ts";
import { makeOnce } from "./key-file.ts";

/**
 * The file of the key of one holder of ShootStates, a seed or the garden; made once, for without it they cannot be opened.
 */
export async function ensureStateKeys({ stateDir }: Pick<Environment, "stateDir">, holder: string): Promise<string> {
  return await makeOnce(join(stateDir, `state-keys-${holder}.json`), () => addStateKey(holder));
}
