import type { Shoot } from "../../api/index.ts";
import { parseYaml } from "../../parsing.ts";
import { renderYaml } from "../../yaml.ts";

/** The Secret with the key under which the Shoot's API server encrypts what it stores; upstream's name. */
export const ENCRYPTION_KEY_SECRET = "kube-apiserver-etcd-encryption-key";

/** The Secret with the API server's EncryptionConfiguration, and its key. */
export const ENCRYPTION_CONFIGURATION = {
  secret: "kube-apiserver-etcd-encryption-configuration",
  key: "encryption-configuration.yaml",
} as const;

/** How a Shoot's API server encrypts: resources as `resource` or `resource.group`, sorted. */
export interface Encryption {
  readonly provider: string;
  /** What it writes encrypted. */
  readonly encrypted: readonly string[];
  /** What it writes in the clear, and may find encrypted. */
  readonly decrypted: readonly string[];
}

/** The key's name, which stands before everything encrypted, and 32 bytes in base64. */
export interface EncryptionKey {
  readonly name: string;
  readonly secret: string;
}

/**
 * What the Shoot asks for, given how its API server encrypts now. A resource that was ever encrypted stays readable
 * until the Shoot's status says that all of it was written in the clear again.
 */
export function wantedEncryption({ spec, status }: Shoot, present?: Encryption): Encryption {
  const config = spec.kubernetes.kubeAPIServer?.encryptionConfig;
  const encrypted = sorted(["secrets", ...(config?.resources ?? [])]);
  const before = everEncrypted(sorted(status?.credentials?.encryptionAtRest?.resources ?? []), present);
  return {
    provider: config?.provider?.type ?? DEFAULT_PROVIDER,
    encrypted,
    decrypted: sorted(before).filter((resource) => !encrypted.includes(resource)),
  };
}

/** What may be found encrypted: once all was stored anew for the present configuration, no more than that encrypts. */
function everEncrypted(recorded: readonly string[], present: Encryption | undefined): readonly string[] {
  if (present === undefined) return recorded;
  const { encrypted, decrypted } = present;
  return recorded.join() === encrypted.join() ? encrypted : [...recorded, ...encrypted, ...decrypted];
}

/** Upstream's default. */
const DEFAULT_PROVIDER = "aescbc";

/** The API server's file. What is not encrypted yet, or not any more, is read all the same. */
export function renderEncryption({ provider, encrypted, decrypted }: Encryption, key: EncryptionKey): string {
  const cipher = { [provider]: { keys: [key] } };
  return renderYaml({
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "EncryptionConfiguration",
    resources: [
      { resources: encrypted, providers: [cipher, { identity: {} }] },
      ...(decrypted.length === 0 ? [] : [{ resources: decrypted, providers: [{ identity: {} }, cipher] }]),
    ],
  });
}

/** What {@link renderEncryption} was made from, without the key; undefined for a text that it did not make. */
export function parseEncryption(text: string): Encryption | undefined {
  try {
    const [first, second] = (parseYaml(text, "the EncryptionConfiguration") as { resources: readonly Group[] })
      .resources;
    const [provider] = Object.keys(first?.providers[0] ?? {});
    if (first === undefined || provider === undefined) return undefined;
    return { provider, encrypted: first.resources, decrypted: second?.resources ?? [] };
  } catch {
    return undefined;
  }
}

interface Group {
  readonly resources: readonly string[];
  readonly providers: readonly object[];
}

const sorted = (resources: readonly string[]): string[] => [...new Set(resources)].sort();
