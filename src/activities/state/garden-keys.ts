import { stateKeySet, type PublicStateKey } from "../../api/core/state-key.ts";
import { ConfigMap, typeMeta, type KubeClient } from "../../kube/index.ts";
import type { StateKey } from "./keys.ts";
import { parseJson } from "../../parsing.ts";

/** Publishes the garden's public keys where seeds read them; the current one comes first. */
export async function publishGardenKeys(gardenClient: KubeClient, keys: readonly StateKey[]): Promise<void> {
  const published = { keys: keys.map(({ publicKey }) => publicKey) };
  await gardenClient.apply({ ...typeMeta(ConfigMap), metadata, data: { [FILE]: JSON.stringify(published) } });
}

/** The garden's public keys; none while it has published none. */
export async function readGardenKeys(gardenClient: KubeClient): Promise<readonly PublicStateKey[]> {
  const text = (await gardenClient.read(ConfigMap, metadata))?.data?.[FILE];
  return text === undefined ? [] : parse(text);
}

const metadata = { namespace: "garden", name: "perennial-state-keys" } as const;
const FILE = "keys.json";

function parse(text: string): readonly PublicStateKey[] {
  try {
    return stateKeySet.parse(parseJson(text, FILE)).keys;
  } catch (cause) {
    throw new Error(`cannot use ConfigMap ${metadata.namespace}/${metadata.name}: ${FILE} is no set of public keys`, {
      cause,
    });
  }
}
