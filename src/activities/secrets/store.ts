import { PERSIST_LABEL } from "../../api/labels.ts";
import { checksumOf } from "../../components/index.ts";
import { SSH_KEY_PAIR } from "../../api/names.ts";
import { Secret, type KubeClient } from "../../kube/index.ts";
import { authorities } from "./plan.ts";

/** A Secret's content as text, by key. */
export type SecretData = Readonly<Record<string, string>>;

/** What a Secret is for; one of role `authority` or `key` cannot be made again and goes along when a Shoot moves. */
export type SecretRole = "authority" | "key" | "certificate" | "kubeconfig" | "configuration" | "bundle";

/** The Secrets of a Shoot's namespace, as they were when opened and as they are made to be. */
export interface SecretStore {
  /** Content of the Secret, or undefined when there is none. */
  read(name: string): SecretData | undefined;
  /**
   * Makes the Secret hold exactly this, and bear these labels besides its own; writes nothing if it does. Throws a conflict
   * if it was changed meanwhile.
   */
  write(name: string, role: SecretRole, data: SecretData, labels?: Readonly<Record<string, string>>): Promise<void>;
  /** SHA-256 of the content of every Secret that was written or found right, by name. */
  checksums(): Record<string, string>;
}

/** Opens the Secrets of a namespace. */
export async function openSecretStore(client: KubeClient, namespace: string): Promise<SecretStore> {
  const listed = await client.list(Secret, { namespace });
  const found = new Map(listed.map((secret) => [secret.metadata.name, secret]));
  const kept = new Map<string, string>();

  return {
    read(name) {
      const data = found.get(name)?.data;
      return data && decodeData(data);
    },
    async write(name, role, content, more = {}) {
      const data = Object.fromEntries(Object.entries(content).map(([key, value]) => [key, encode(value)]));
      kept.set(name, checksumOf(data));
      const present = found.get(name);
      const labels = { ...present?.metadata.labels, ...labelsFor(role), ...more };
      if (present === undefined) {
        const metadata = { name, namespace, labels };
        found.set(
          name,
          await client.create<Secret>({ apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data }),
        );
      } else if (
        checksumOf(present.data ?? {}) !== checksumOf(data) ||
        checksumOf(present.metadata.labels ?? {}) !== checksumOf(labels)
      ) {
        found.set(name, await client.replace<Secret>({ ...present, metadata: { ...present.metadata, labels }, data }));
      }
    },
    checksums: () => Object.fromEntries(kept),
  };
}

function labelsFor(role: SecretRole): Record<string, string> {
  const lasting = role === "authority" || role === "key";
  return { "managed-by": "perennial", role, ...(lasting ? { [PERSIST_LABEL]: "true" } : {}) };
}

/** The labels of a Secret of {@link lastingSecrets}, or of the key pair for nodes, wherever it is restored. */
export function labelsOfLasting(name: string): Record<string, string> {
  if (Object.hasOwn(authorities, name)) return labelsFor("authority");
  return { ...labelsFor("key"), ...(name === SSH_KEY_PAIR && { name }) };
}

/** Label `manager-identity` of Secrets that extensions take for Gardener's own. */
export const SECRETS_MANAGER_IDENTITY = "gardenlet";

/** Content as the API server has it, in base64, as text. */
export function decodeData(data: Readonly<Record<string, string>>): SecretData {
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, decode(value)]));
}

function encode(text: string): string {
  return Buffer.from(text).toString("base64");
}

function decode(base64: string): string {
  return Buffer.from(base64, "base64").toString();
}
