import { Secret, type KubeClient } from "../kube/index.ts";
import { ExtensionError } from "./errors.ts";

/** The decoded data of a Secret. Throws an ERR_CONFIGURATION_PROBLEM when there is no such Secret. */
export async function readSecret(
  client: KubeClient,
  ref: { name: string; namespace: string },
): Promise<Record<string, string>> {
  const secret = await client.read(Secret, ref);
  if (!secret) {
    throw new ExtensionError(`cannot read Secret ${ref.namespace}/${ref.name}: there is none`, [
      "ERR_CONFIGURATION_PROBLEM",
    ]);
  }
  const entries = Object.entries(secret.data ?? {});
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));
}
