import {
  DISCOVERY_LABEL,
  ROLE_LABEL,
  SHOOT_NAME_LABEL,
  SHOOT_UID_LABEL,
  UPDATE_RESTRICTION_LABEL,
} from "../../api/labels.ts";
import { Shoot } from "../../api/index.ts";
import { authorityNames, SSH_KEY_PAIR, sshKeyPairName } from "../../api/names.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { refTo, Secret, typeMeta, type KubeClient } from "../../kube/index.ts";

/** What of a Shoot's Secrets its owners are given, and whether a key pair for its nodes is among it. */
export interface GardenCredentials {
  /** The Shoot's Secrets in its seed, by name; data in base64. */
  readonly secrets: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Name of the Secret with the key pair; undefined where the Shoot has none, or where its owner has disabled logins. */
  readonly keyPair: string | undefined;
}

/**
 * Keeps in the garden, beside the Shoot, what its owners and their tools look for by upstream's names: its authorities, with
 * which servers are recognised, and the key pair for its nodes. They go with the Shoot. What is not there yet is left out; a
 * key pair that the Shoot has no more is emptied.
 */
export async function keepCredentials(
  gardenClient: KubeClient,
  shoot: Shoot,
  credentials: GardenCredentials,
): Promise<void> {
  const { namespace, name } = shoot.metadata;
  const pair = refTo(Secret, { namespace, name: sshKeyPairName(name) });
  for (const object of objectsOf(shoot, credentials)) await gardenClient.apply(object);
  if (credentials.keyPair === undefined && (await gardenClient.read(pair)) !== undefined)
    await gardenClient.apply(secret(shoot, pair.name, SSH_KEY_PAIR, {}));
}

function objectsOf(shoot: Shoot, { secrets, keyPair }: GardenCredentials): KubeObject[] {
  const { name } = shoot.metadata;
  const names = authorityNames(name);
  const ca = secrets.get("ca")?.["ca.crt"];
  const kubelet = secrets.get("ca-kubelet")?.["ca.crt"];
  const pair = keyPair === undefined ? undefined : secrets.get(keyPair);
  const shown = { [DISCOVERY_LABEL]: "shoot-ca" };
  return [
    ...(ca === undefined ? [] : [configMap(shoot, names.ca, ca, { [ROLE_LABEL]: "ca-cluster", ...shown })]),
    ...(ca === undefined ? [] : [secret(shoot, names.ca, "ca-cluster", { "ca.crt": ca })]),
    ...(kubelet === undefined ? [] : [configMap(shoot, names["ca-kubelet"], kubelet, { [ROLE_LABEL]: "ca-kubelet" })]),
    ...(pair === undefined ? [] : [secret(shoot, sshKeyPairName(name), SSH_KEY_PAIR, pair)]),
  ];
}

const configMap = (shoot: Shoot, name: string, ca: string, labels: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { ...besides(shoot, name), labels: { ...labels, ...belongingTo(shoot) } },
  data: { "ca.crt": Buffer.from(ca, "base64").toString() },
});

const secret = (shoot: Shoot, name: string, role: string, data: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { ...besides(shoot, name), labels: { [ROLE_LABEL]: role } },
  type: "Opaque",
  data,
});

const belongingTo = ({ metadata: { name, uid = "" } }: Shoot) => ({
  [SHOOT_NAME_LABEL]: name,
  [SHOOT_UID_LABEL]: uid,
  [UPDATE_RESTRICTION_LABEL]: "true",
});

const besides = ({ metadata: { namespace, name, uid = "" } }: Shoot, own: string) => ({
  namespace,
  name: own,
  ownerReferences: [{ ...typeMeta(Shoot), name, uid }],
});
