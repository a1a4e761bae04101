import { definitionOf, extensionKinds, type ExtensionKind } from "../../api/extensions/kinds.ts";
import type { Offer } from "../../api/registration/registered.ts";
import { isNotFound, type KubeClient } from "../../kube/index.ts";

/** The objects of a seed that a controller is there for, as `Kind type: namespace/name`. */
export async function objectsServed(seedClient: KubeClient, offers: readonly Offer[]): Promise<readonly string[]> {
  const kinds = [...new Set(offers.map(({ kind }) => kind))].filter(isExtensionKind);
  const lists = await Promise.all(kinds.map((kind) => listKind(seedClient, kind)));
  return lists.flat().flatMap(({ kind, metadata, spec }) => {
    const type = spec?.type ?? "";
    if (!offers.some((offer) => offer.kind === kind && offer.type === type)) return [];
    return [`${kind} ${type}: ${metadata.namespace === undefined ? "" : `${metadata.namespace}/`}${metadata.name}`];
  });
}

/** Whether a name is that of an extension kind; registrations may name kinds that are none. */
export const isExtensionKind = (kind: string): kind is ExtensionKind => Object.hasOwn(extensionKinds, kind);

/** A seed that does not know the kind has none of its objects. */
async function listKind(seedClient: KubeClient, kind: ExtensionKind) {
  try {
    return await seedClient.list(definitionOf(kind));
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}
