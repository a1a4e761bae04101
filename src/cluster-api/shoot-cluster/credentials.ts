import { isDeepStrictEqual } from "node:util";
import type { ShootCluster } from "../../api/cluster-api/index.ts";
import { CredentialsBinding } from "../../api/index.ts";
import { GARDEN_CREDENTIALS_LABEL, INFRASTRUCTURE_ID_LABEL } from "../../api/labels.ts";
import { infrastructureCredentialsName } from "../../api/names.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import {
  inWords,
  isAlreadyExists,
  refOf,
  Secret,
  typeMeta,
  type KubeClient,
  type MergePatch,
} from "../../kube/index.ts";
import { isRefusal, type Obstacle } from "../objects/obstacle.ts";
import type { Holder } from "./holder.ts";

/**
 * Gives the project in the garden what its Shoot acts with at the provider: a copy of the Secret that the infrastructure names, and
 * the CredentialsBinding for it; both follow the Secret. Only a Secret of the infrastructure's own namespace is copied, and only one
 * that is labelled for that: who may write a ShootCluster need not be one who may read Secrets. A Secret that has gone leaves the
 * copy as it is.
 */
export async function provideCredentials(
  garden: KubeClient,
  { infrastructure, holder, source, present }: CredentialsPlace,
): Promise<Obstacle | undefined> {
  const { credentials } = infrastructure.spec ?? {};
  if (credentials === undefined) return undefined;
  if (source === undefined) {
    const message = `there is no Secret ${credentials.secretRef.name} with label ${GARDEN_CREDENTIALS_LABEL}: "true" in Namespace ${infrastructure.metadata.namespace}`;
    return { reason: "CredentialsMissing", message };
  }
  const { secret, binding } = wantedOf(holder, credentials.providerType, source);
  return (await keep(garden, holder, secret, present.secret)) ?? (await keep(garden, holder, binding, present.binding));
}

/** Whose credentials they are, where they come from, and what the garden has of them. */
export interface CredentialsPlace {
  readonly infrastructure: ShootCluster;
  readonly holder: Holder;
  /** The Secret that the infrastructure names, if it is labelled to be shared. */
  readonly source: Secret | undefined;
  readonly present: { readonly secret: Secret | undefined; readonly binding: CredentialsBinding | undefined };
}

/** Whether an object in the garden is this holder's. */
export const isOf = ({ metadata }: KubeObject, { id }: Holder): boolean =>
  metadata.labels?.[INFRASTRUCTURE_ID_LABEL] === id;

function wantedOf({ id, shoot }: Holder, providerType: string, source: Secret) {
  const { namespace } = shoot;
  const name = infrastructureCredentialsName(shoot.name);
  const metadata = { namespace, name, labels: { [INFRASTRUCTURE_ID_LABEL]: id } };
  const secret = { ...typeMeta(Secret), metadata, type: "Opaque", data: source.data ?? {} } satisfies Secret;
  const binding = {
    ...typeMeta(CredentialsBinding),
    metadata,
    provider: { type: providerType },
    credentialsRef: { ...typeMeta(Secret), namespace, name },
  } satisfies CredentialsBinding;
  return { secret, binding };
}

/** The garden has the object, and it says no more than is wanted; one of that name that is another's stays as it is. */
async function keep(
  garden: KubeClient,
  holder: Holder,
  wanted: KubeObject,
  present: KubeObject | undefined,
): Promise<Obstacle | undefined> {
  try {
    if (present === undefined) return await make(garden, holder, wanted);
    const news = newsOf(wanted, present);
    if (news !== undefined) await garden.patch(refOf(present), { metadata: { uid: present.metadata.uid }, ...news });
    return undefined;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { reason: "CredentialsRefused", message: error.message };
  }
}

async function make(garden: KubeClient, holder: Holder, wanted: KubeObject): Promise<Obstacle | undefined> {
  try {
    await garden.create(wanted);
    return undefined;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const found = await garden.read(refOf(wanted));
    if (found !== undefined && isOf(found, holder)) return undefined; // a watch has yet to bring it
    const message = `${inWords(refOf(wanted))} is in the garden already, and is not this ShootCluster's`;
    return { reason: "CredentialsTaken", message };
  }
}

/** The fields besides names and labels that say something else, as a merge patch that leaves nothing of them. */
function newsOf(wanted: KubeObject, present: KubeObject): MergePatch | undefined {
  const { apiVersion: _, kind: __, metadata: ___, ...fields } = wanted;
  const news = Object.entries(fields).filter(([name, value]) => !isDeepStrictEqual(present[name] ?? {}, value));
  if (news.length === 0) return undefined;
  return Object.fromEntries(news.map(([name, value]) => [name, replacing(present[name], value)]));
}

const replacing = (present: unknown, wanted: unknown): unknown =>
  isMap(present) && isMap(wanted)
    ? { ...Object.fromEntries(Object.keys(present).map((key) => [key, null])), ...wanted }
    : wanted;

const isMap = (value: unknown): value is object => typeof value === "object" && value !== null && !Array.isArray(value);
