import { KUBECONFIG_EXPIRY_ANNOTATION, KUBECONFIG_REVOCATION_ANNOTATION } from "../../api/annotations.ts";
import { ROLE_LABEL } from "../../api/labels.ts";
import { Shoot } from "../../api/index.ts";
import { kubeconfigSecretName } from "../../api/names.ts";
import { userAccount } from "../../components/index.ts";
import {
  isConflict,
  parseKubeconfig,
  refOf,
  refTo,
  renderKubeconfig,
  Secret,
  typeMeta,
  type KubeClient,
} from "../../kube/index.ts";
import { StepError } from "../step-error.ts";
import type { ShootClients } from "../shoot/clients.ts";
import { lifeOf, requestToken, type TokenLife } from "./service-account-token.ts";

/** A Shoot's API server: how users reach it, and our client for it. */
export interface ShootAccess {
  readonly server: string;
  /** The certificate of its authority, in PEM. */
  readonly ca: string;
  readonly client: KubeClient;
}

/**
 * The access to the API server of the Shoot of a namespace, which users reach at `server`; undefined while there is no such
 * address, or no authority yet.
 */
export async function findAccess(
  { seedClient, shootClients }: { readonly seedClient: KubeClient; readonly shootClients: ShootClients },
  namespace: string,
  server: string | undefined,
): Promise<ShootAccess | undefined> {
  const ca = (await seedClient.read(Secret, { namespace, name: "ca" }))?.data?.["ca.crt"];
  if (server === undefined || ca === undefined) return undefined;
  return { server, ca: Buffer.from(ca, "base64").toString(), client: await shootClients.get(namespace) };
}

/** The Secret beside a Shoot that holds its administrator's kubeconfig, where upstream keeps it. */
export const kubeconfigRef = ({ namespace, name }: Shoot["metadata"]) =>
  refTo(Secret, { namespace, name: kubeconfigSecretName(name) });

/**
 * Keeps the administrator's kubeconfig of a Shoot in the garden: a token of the Shoot's own service account for a day,
 * replaced once half of it is over, so that the one before is good for half a day still. A revocation that the Shoot
 * asks for is done once: the account is made anew, and with the old one all its tokens die. Several may do this at
 * once: all but one find the work done. Returns when it is to be done again.
 */
export async function keepKubeconfig(
  gardenClient: KubeClient,
  shoot: Shoot,
  access: ShootAccess,
  now: () => Date = () => new Date(),
): Promise<Date> {
  const ref = kubeconfigRef(shoot.metadata);
  const revocation = shoot.metadata.annotations?.[KUBECONFIG_REVOCATION_ANNOTATION];
  let isOurs = false; // the account: what others have published may be a token of one before
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    const present = (await gardenClient.read(ref)) ?? (await create(gardenClient, shoot));
    if (isAsked(revocation, present) && !isOurs) {
      await renewAccount(access.client);
      isOurs = true;
    }
    const renewal = isOurs ? undefined : renewalOf(present, access);
    if (renewal !== undefined && now() < renewal) return renewal;
    const made = await makeKubeconfig(access, revocation);
    if (await write(gardenClient, shoot, present, made)) return halfOf(made.life);
  }
  throw new StepError(`Secret ${ref.namespace}/${ref.name} changes again and again`);
}

/** Whether a revocation is asked for that was not met yet. */
const isAsked = (revocation: string | undefined, present: Secret): boolean =>
  revocation !== undefined && present.metadata.annotations?.[KUBECONFIG_REVOCATION_ANNOTATION] !== revocation;

/** When what is published is to be replaced; undefined for anything but a token for this very API server. */
function renewalOf(present: Secret, { server, ca }: ShootAccess): Date | undefined {
  const text = Buffer.from(present.data?.["kubeconfig"] ?? "", "base64").toString();
  const token = tokenIn(text);
  if (token === undefined || text !== renderKubeconfig({ server, ca, token })) return undefined;
  const life = lifeOf(token);
  return life && halfOf(life);
}

interface Made {
  readonly life: TokenLife;
  readonly kubeconfig: string;
  readonly annotations: Readonly<Record<string, string>>;
}

async function makeKubeconfig({ client, server, ca }: ShootAccess, revocation: string | undefined): Promise<Made> {
  const token = await requestToken(client, userAccount, LIFETIME);
  const life = lifeOf(token);
  if (life === undefined) throw new StepError("the Shoot's API server has given a token that cannot be read");
  const annotations = {
    [KUBECONFIG_EXPIRY_ANNOTATION]: life.expires.toISOString(),
    ...(revocation === undefined ? {} : { [KUBECONFIG_REVOCATION_ANNOTATION]: revocation }),
  };
  return { life, annotations, kubeconfig: renderKubeconfig({ server, ca, token }) };
}

/** Seconds. */
const LIFETIME = 24 * 3600;

const MOST_ATTEMPTS = 5;

const halfOf = ({ issued, expires }: TokenLife): Date => new Date((issued.getTime() + expires.getTime()) / 2);

function tokenIn(kubeconfig: string): string | undefined {
  try {
    const { token } = parseKubeconfig(kubeconfig).user;
    return typeof token === "string" ? token : undefined;
  } catch {
    return undefined;
  }
}

/** A token is bound to its account's uid. */
async function renewAccount(client: KubeClient): Promise<void> {
  await client.remove(refOf(userAccount));
  await client.apply(userAccount);
}

/** False when another has written meanwhile. */
async function write(gardenClient: KubeClient, shoot: Shoot, present: Secret, made: Made): Promise<boolean> {
  const { kubeconfig, annotations } = made;
  const { resourceVersion } = present.metadata;
  const data = { kubeconfig: Buffer.from(kubeconfig).toString("base64") };
  try {
    const metadata = { ...belongingTo(shoot), annotations, resourceVersion };
    await gardenClient.patch(kubeconfigRef(shoot.metadata), { metadata, data });
    return true;
  } catch (error) {
    if (isConflict(error)) return false;
    throw error;
  }
}

/** By server-side apply, because a seed may make no Secret but of this name; empty, so that others' content stays. */
function create(gardenClient: KubeClient, shoot: Shoot): Promise<Secret> {
  const { apiVersion, kind, namespace = "", name } = kubeconfigRef(shoot.metadata);
  const metadata = { namespace, name, ...belongingTo(shoot) };
  return gardenClient.apply<Secret>({ apiVersion, kind, metadata, type: "Opaque" });
}

const belongingTo = ({ metadata: { name, uid = "" } }: Shoot) => ({
  labels: { [ROLE_LABEL]: "kubeconfig" },
  ownerReferences: [{ ...typeMeta(Shoot), name, uid }],
});
