import { randomBytes } from "node:crypto";
import {
  ENCRYPTION_CONFIGURATION,
  ENCRYPTION_KEY_SECRET,
  parseEncryption,
  renderEncryption,
  wantedEncryption,
  type ControlPlaneContext,
} from "../../components/index.ts";
import { renderKubeconfig, type KubeClient } from "../../kube/index.ts";
import { prepareAccess, wantedKeyPair } from "./access.ts";
import { isFit, isUsableAuthority, isUsableSigningKey } from "./certificate-fit.ts";
import { generateSigningKey, issueAuthority, issueCertificate, type KeyPair } from "./pki.ts";
import { authorities, certificatesOf, lastingSecrets, type AuthorityName, type CertificatePlan } from "./plan.ts";
import { openSecretStore, type SecretData, type SecretStore } from "./store.ts";

/** What Secrets are made with. */
export interface SecretSources {
  /** The clock that certificates are held against. */
  readonly now?: Date;
  /** Content of those of these Secrets that are kept elsewhere, by name. Throws where one is kept and cannot be had. */
  kept?(names: readonly string[]): Promise<ReadonlyMap<string, SecretData>>;
}

/**
 * Makes sure that the Shoot's namespace holds every key, certificate and kubeconfig of its control plane. What is there
 * and fits is left alone, so a run that was killed is simply run again; authorities and signing keys are made once, and
 * brought back if they are lost; certificates are made anew when their hosts, their authority or 80 % of their time are
 * over. Returns SHA-256 by Secret name.
 */
export async function ensureSecrets(
  client: KubeClient,
  context: ControlPlaneContext,
  { now = new Date(), kept = () => Promise.resolve(new Map()) }: SecretSources = {},
): Promise<{ checksums: Record<string, string> }> {
  const store = await withKept(await openSecretStore(client, context.namespace), context, kept);
  const run: Run = { store, context, now };
  const access = prepareAccess(store, context);
  const keys = new Map<AuthorityName, KeyPair>();
  for (const name of Object.keys(authorities) as AuthorityName[]) keys.set(name, await ensureAuthority(run, name));
  const authority = (name: AuthorityName) => keys.get(name) ?? lost(context, name, "it was not made");
  const ca = authority("ca");
  await ensureSigningKey(run);
  await ensureEncryption(run);
  for (const plan of certificatesOf(context)) {
    await ensureCertificate(run, plan, { signer: authority(plan.authority), ca });
  }
  await access?.(keys);
  return { checksums: store.checksums() };
}

/** The store, where what is missing of the Secrets that cannot be made again reads as it is kept. */
async function withKept(
  store: SecretStore,
  context: ControlPlaneContext,
  kept: NonNullable<SecretSources["kept"]>,
): Promise<SecretStore> {
  const missing = [...lastingSecrets, ...wantedKeyPair(context)].filter((name) => store.read(name) === undefined);
  if (missing.length === 0) return store;
  const found = await kept(missing);
  return { ...store, read: (name) => store.read(name) ?? found.get(name) };
}

interface Run {
  readonly store: SecretStore;
  readonly context: ControlPlaneContext;
  readonly now: Date;
}

/** A new authority would lock out every machine and user: one that is damaged or expired is for people to decide on. */
async function ensureAuthority({ store, context, now }: Run, name: AuthorityName): Promise<KeyPair> {
  const data = store.read(name);
  const present = data && { certificate: data["ca.crt"] ?? "", key: data["ca.key"] ?? "" };
  if (present && !isUsableAuthority(present, now))
    lost(context, name, "it is damaged, has expired or holds more than one certificate and its key");
  const pair = present ?? (await issueAuthority(authorities[name], now));
  await store.write(name, "authority", { "ca.crt": pair.certificate, "ca.key": pair.key });
  return pair;
}

async function ensureSigningKey({ store, context }: Run): Promise<void> {
  const data = store.read("service-account-key");
  const key = data ? data["id_rsa"] : await generateSigningKey();
  if (!key || !isUsableSigningKey(key)) lost(context, "service-account-key", "id_rsa is not one RSA key in PEM");
  await store.write("service-account-key", "key", { id_rsa: key });
}

/** The key lives as long as the Shoot, in whose etcd it is named; the configuration follows the Shoot's spec. */
async function ensureEncryption({ store, context, now }: Run): Promise<void> {
  const { secret, key: file } = ENCRYPTION_CONFIGURATION;
  const found = store.read(ENCRYPTION_KEY_SECRET);
  if (found === undefined && context.shoot.status?.credentials?.encryptionAtRest !== undefined)
    lost(context, ENCRYPTION_KEY_SECRET, "it is gone, and without it what the Shoot has stored cannot be read");
  const { key: name, secret: bytes } = found ?? createEncryptionKey(now);
  if (!name || !bytes) lost(context, ENCRYPTION_KEY_SECRET, "it has no key and secret");
  await store.write(ENCRYPTION_KEY_SECRET, "key", { key: name, secret: bytes });
  const present = parseEncryption(store.read(secret)?.[file] ?? "");
  const text = renderEncryption(wantedEncryption(context.shoot, present), { name, secret: bytes });
  await store.write(secret, "configuration", { [file]: text });
}

/** A name by which people tell keys apart, and 256 random bits. */
function createEncryptionKey(now: Date): SecretData {
  return { key: `key${Math.floor(now.getTime() / 1000)}`, secret: randomBytes(32).toString("base64") };
}

async function ensureCertificate({ store, now }: Run, plan: CertificatePlan, keys: { signer: KeyPair; ca: KeyPair }) {
  const { signer, ca } = keys;
  const { name, request, kubeconfig } = plan;
  const data = store.read(name);
  const present = { certificate: data?.["tls.crt"] ?? "", key: data?.["tls.key"] ?? "" };
  const fits = isFit(present, signer, request, now);
  const { certificate, key } = fits ? present : await issueCertificate(signer, request, now);
  const pair = { "ca.crt": signer.certificate, "tls.crt": certificate, "tls.key": key };
  if (kubeconfig === undefined) return store.write(name, "certificate", pair);
  const text = renderKubeconfig({ ...kubeconfig, ca: ca.certificate, clientCert: certificate, clientKey: key });
  await store.write(name, "kubeconfig", { ...pair, kubeconfig: text });
}

function lost({ namespace }: ControlPlaneContext, name: string, why: string): never {
  throw new Error(`cannot use Secret ${namespace}/${name}: ${why}`);
}
