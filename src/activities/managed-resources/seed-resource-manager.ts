import { RESOURCE_MANAGER_ANNOTATION } from "../../api/annotations.ts";
import { ManagedResource, type KubeObject } from "../../api/index.ts";
import {
  checksumOf,
  RESOURCE_MANAGER,
  RESOURCE_MANAGER_SERVER,
  SEED_NAMESPACE,
  seedResourceManager,
  tokenMountWebhook,
  type PodPlace,
} from "../../components/index.ts";
import { Namespace, Secret, typeMeta, type KubeClient } from "../../kube/index.ts";
import { isFit, isUsableAuthority } from "../secrets/certificate-fit.ts";
import { issueAuthority, issueCertificate, type CertificateRequest, type KeyPair } from "../secrets/pki.ts";
import { openSecretStore, type SecretStore } from "../secrets/store.ts";
import { renderYaml } from "../../yaml.ts";

/**
 * Deploys the seed's own resource manager, which applies ManagedResources of class `seed`, and all that it needs but its
 * rights: those are in deploy/options/resource-manager. Safe to repeat; what is there and fits is left alone.
 */
export async function deploySeedResourceManager(
  seedClient: KubeClient,
  { now = new Date(), place }: Deployed = {},
): Promise<void> {
  const store = await openSecretStore(seedClient, SEED_NAMESPACE);
  const pair = await ensureServer(store, await ensureAuthority(store, now), now);
  const objects = seedResourceManager({ checksum: checksumOf(pair), ...(place && { place }) });
  for (const object of objects) await seedClient.apply(object);
  for (const object of webhooksOf(pair["ca.crt"])) await seedClient.apply(object);
}

/** When it is deployed, and where it runs in a cluster that carries its own control plane. */
interface Deployed {
  readonly now?: Date;
  readonly place?: PodPlace;
}

/**
 * Puts the seed's resource manager right, where its operator has asked for one and it was deployed before: renews its
 * certificate in time, and brings a version to it that comes with this build. No flow runs in a seed that rests.
 */
export async function keepSeedResourceManager(seedClient: KubeClient, now = new Date()): Promise<void> {
  if (!(await isAskedForResourceManager(seedClient))) return;
  const authority = await seedClient.read(Secret, { namespace: SEED_NAMESPACE, name: AUTHORITY });
  if (authority !== undefined) await deploySeedResourceManager(seedClient, { now });
}

/** Whether the seed's operator has asked for a resource manager there. */
export async function isAskedForResourceManager(seedClient: KubeClient): Promise<boolean> {
  const { annotations = {} } = (await seedClient.read(Namespace, { name: SEED_NAMESPACE }))?.metadata ?? {};
  return annotations[RESOURCE_MANAGER_ANNOTATION] === "true";
}

/** It registers its own webhooks: roles of the worker do not say that it may. */
function webhooksOf(authority: string): KubeObject[] {
  const webhook = renderYaml(tokenMountWebhook(authority));
  const name = `${RESOURCE_MANAGER}-webhooks`;
  const data = { "webhooks.yaml": Buffer.from(webhook).toString("base64") };
  return [
    { ...typeMeta(Secret), metadata: { namespace: SEED_NAMESPACE, name }, type: "Opaque", data },
    {
      ...typeMeta(ManagedResource),
      metadata: { namespace: SEED_NAMESPACE, name },
      spec: { class: "seed", secretRefs: [{ name }] },
    },
  ];
}

const AUTHORITY = `${RESOURCE_MANAGER}-ca`;

/** Only its own webhooks would be trusted by it: unlike a Shoot's, it may be made anew. */
async function ensureAuthority(store: SecretStore, now: Date): Promise<KeyPair> {
  const { "ca.crt": certificate = "", "ca.key": key = "" } = store.read(AUTHORITY) ?? {};
  const present = { certificate, key };
  const usable = certificate !== "" && isUsableAuthority(present, now);
  const pair = usable ? present : await issueAuthority(AUTHORITY, now);
  await store.write(AUTHORITY, "authority", { "ca.crt": pair.certificate, "ca.key": pair.key });
  return pair;
}

async function ensureServer(store: SecretStore, authority: KeyPair, now: Date) {
  const { "tls.crt": certificate = "", "tls.key": key = "" } = store.read(RESOURCE_MANAGER_SERVER) ?? {};
  const present = { certificate, key };
  const pair = isFit(present, authority, request, now) ? present : await issueCertificate(authority, request, now);
  const data = { "ca.crt": authority.certificate, "tls.crt": pair.certificate, "tls.key": pair.key };
  await store.write(RESOURCE_MANAGER_SERVER, "certificate", data);
  return data;
}

const request: CertificateRequest = {
  commonName: RESOURCE_MANAGER,
  hosts: [`${RESOURCE_MANAGER}.${SEED_NAMESPACE}`, `${RESOURCE_MANAGER}.${SEED_NAMESPACE}.svc`],
  usages: ["server"],
};
