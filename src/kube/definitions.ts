import { setTimeout as delay } from "node:timers/promises";
import { AWAITED_ANNOTATION } from "../api/annotations.ts";
import type { KubeObject } from "../api/schema/meta.ts";
import type { KubeClient } from "./client.ts";
import { readVersion } from "./discovery.ts";
import { KubeError } from "./errors.ts";
import { CustomResourceDefinition } from "./kinds.ts";
import { refOf } from "./path.ts";

/** Applies definitions, but for those that another brought, and returns when all are served. */
export async function define(client: KubeClient, crds: readonly KubeObject[]): Promise<void> {
  await Promise.all(crds.map(async (crd) => ((await isOthers(client, crd)) ? undefined : client.apply(crd))));
  await Promise.all(crds.map((crd) => untilServed(client, crd)));
}

/** Whether another brought the definition, such as a gardenlet: its own objects are written by that one. Ours may be older. */
async function isOthers(client: KubeClient, { metadata: { name } }: KubeObject): Promise<boolean> {
  const present = await client.read(CustomResourceDefinition, { name });
  const { managedFields = [] } = (present?.metadata ?? {}) as { readonly managedFields?: readonly ManagedFields[] };
  return present !== undefined && !managedFields.some(({ manager }) => ourManagers.has(manager ?? ""));
}

interface ManagedFields {
  readonly manager?: string;
}

/** Ourselves, and operators who apply deploy/ by hand. */
const ourManagers: ReadonlySet<string> = new Set(["perennial", "kubectl"]);

async function untilServed(client: KubeClient, { metadata: { name } }: KubeObject): Promise<void> {
  for (let attempt = 1; attempt <= 300; attempt++) {
    const crd = await client.read(CustomResourceDefinition, { name });
    if (crd !== undefined && isEstablished(crd) && (await isDiscoverable(client, crd))) return;
    if (crd !== undefined && isTrue(crd, "NamesAccepted") && attempt % 30 === 0) await touch(client, crd);
    await delay(100);
  }
  const message = `cannot use ${name}: the API server does not serve it after 30 s`;
  throw new KubeError(message, { status: 404, reason: "NotEstablished", retryable: true });
}

/** Whether discovery names the kind in every served version: on a busy API server that is some time after it is established. */
async function isDiscoverable(client: KubeClient, { spec }: CustomResourceDefinition): Promise<boolean> {
  const { group, names, versions = [] } = spec;
  for (const { name } of versions.filter(({ served }) => served)) {
    const found = await readVersion((path) => client.get(path), `${group}/${name}`);
    if (!found.some(({ kind }) => kind === names.kind)) return false;
  }
  return true;
}

/** Whether the API server has taken the definition into service. */
export const isEstablished = (crd: CustomResourceDefinition): boolean => isTrue(crd, "Established");

const isTrue = ({ status }: CustomResourceDefinition, condition: string): boolean =>
  status?.conditions?.some(({ type, status }) => type === condition && status === "True") === true;

/**
 * Changes a definition and changes it back. An API server that ended after it had accepted the names establishes the definition only
 * when it next changes, or after minutes (apiextensions-apiserver: updateCustomResourceDefinition).
 */
async function touch(client: KubeClient, crd: CustomResourceDefinition): Promise<void> {
  for (const value of ["true", null])
    await client.patch(refOf(crd), { metadata: { annotations: { [AWAITED_ANNOTATION]: value } } });
}
