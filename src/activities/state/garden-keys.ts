import { stateKeySet, type PublicStateKey } from "../../api/core/state-key.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { KubeClient } from "../../kube/index.ts";
import type { StateKey } from "./keys.ts";
import { parseJson } from "../../parsing.ts";

/** Publishes the garden's public keys where seeds read them; the current one comes first. */
export async function publishGardenKeys(gardenClient: KubeClient, keys: readonly StateKey[]): Promise<void> {
  const published = { keys: keys.map(({ publicKey }) => publicKey) };
  await gardenClient.apply({ ...ref, metadata, data: { [FILE]: JSON.stringify(published) } });
}

/** The garden's public keys; none while it has published none. */
export async function readGardenKeys(gardenClient: KubeClient): Promise<readonly PublicStateKey[]> {
  const object = await gardenClient.read({ ...ref, ...metadata });
  const text = (object as PublishedKeys | undefined)?.data?.[FILE];
  return text === undefined ? [] : parse(text);
}

interface PublishedKeys extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const ref = { apiVersion: "v1", kind: "ConfigMap" } as const;
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
