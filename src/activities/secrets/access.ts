import { createHash } from "node:crypto";
import { GENERIC_KUBECONFIG, SHOOT_KUBECONFIG_FOLDER, SSH_KEY_PAIR } from "../../api/names.ts";
import { poolsOf, type ControlPlaneContext } from "../../components/index.ts";
import { renderKubeconfig } from "../../kube/index.ts";
import type { KeyPair } from "./pki.ts";
import type { AuthorityName } from "./plan.ts";
import { generateSshKeyPair } from "./ssh-key-pair.ts";
import { SECRETS_MANAGER_IDENTITY, type SecretData, type SecretStore } from "./store.ts";

/**
 * Makes sure of what extensions of others look for beside a control plane, with upstream's names and labels: a bundle of
 * each authority, the kubeconfig that lacks only a token, and the key pair for logins on nodes. Undefined where nothing looks
 * for these. The key pair, half a second of work for another core, is begun at once; the rest is to be called.
 */
export function prepareAccess(
  store: SecretStore,
  context: ControlPlaneContext,
): ((authorities: ReadonlyMap<AuthorityName, KeyPair>) => Promise<void>) | undefined {
  if (context.managesResources !== true) return undefined;
  const keyPairs = wantedKeyPair(context).map((name) => ({ name, made: readOrGenerate(store, name) }));
  return async (authorities) => {
    for (const [name, { certificate }] of authorities)
      await writeHashed(store, `${name}-bundle`, { "bundle.crt": certificate }, { "bundle-for": name });
    const ca = authorities.get("ca")?.certificate;
    if (ca !== undefined) await writeHashed(store, GENERIC_KUBECONFIG, { kubeconfig: withTokenFile(ca) });
    for (const { name, made } of keyPairs) await store.write(name, "key", await made, { name });
  };
}

function readOrGenerate(store: SecretStore, name: string): Promise<SecretData> {
  const made = Promise.resolve(store.read(name) ?? generateSshKeyPair());
  made.catch(() => {}); // it is looked at when all else was made
  return made;
}

/** Name of the Secret of the key pair, where the Shoot is to have one: it has machines, and its owner lets people log in. */
export function wantedKeyPair(context: ControlPlaneContext): string[] {
  const { workersSettings } = context.shoot.spec.provider;
  const allowed = workersSettings?.sshAccess?.enabled ?? true;
  return context.managesResources === true && poolsOf(context).length > 0 && allowed ? [SSH_KEY_PAIR] : [];
}

/** A kubeconfig for pods in the Shoot's namespace: beside it, each mounts a token of its own. */
const withTokenFile = (ca: string): string =>
  renderKubeconfig({ server: "https://kube-apiserver", ca, tokenFile: `${SHOOT_KUBECONFIG_FOLDER}/token` });

/** Under a name that changes with the content, so that what mounts it is rolled; found by the label `name`. */
function writeHashed(
  store: SecretStore,
  name: string,
  data: SecretData,
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  const hash = createHash("sha256").update(JSON.stringify(data)).digest("hex").slice(0, 8);
  return store.write(`${name}-${hash}`, "bundle", data, { ...byUpstream, name, ...labels });
}

/** Extensions select by these labels, too. */
const byUpstream = { "managed-by": "secrets-manager", "manager-identity": SECRETS_MANAGER_IDENTITY };
