import { LEADERSHIP_ANNOTATION } from "../../api/annotations.ts";
import { EXTENSIONS_API } from "../../api/extensions/kinds.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { KubeError, type KubeClient, type WriteOptions } from "../../kube/index.ts";

/**
 * A client that says who may act on an extension object where the seed lets it: in `spec.leadership`, as GEP-1 has it, or in
 * an annotation, where the definition of the kind is Gardener's own and knows no such field.
 */
export function carryingLeadership(client: KubeClient): KubeClient {
  const unknownTo = new Set<string>();
  return {
    ...client,
    async apply<T extends KubeObject>(object: T, o?: WriteOptions): Promise<T> {
      if (!isLed(object)) return await client.apply(object, o);
      if (unknownTo.has(object.kind)) return await client.apply(inAnnotation(object), o);
      try {
        return await client.apply(object, o);
      } catch (error) {
        if (!(error instanceof KubeError) || !error.message.includes(undeclared)) throw error;
        unknownTo.add(object.kind);
        return await client.apply(inAnnotation(object), o);
      }
    },
  };
}

/** How API servers call a field that a definition does not have. */
const undeclared = ".spec.leadership: field not declared in schema";

function isLed({ apiVersion, ...object }: KubeObject): boolean {
  const { leadership } = (object["spec"] ?? {}) as { readonly leadership?: unknown };
  return apiVersion === EXTENSIONS_API && leadership !== undefined;
}

function inAnnotation<T extends KubeObject>(object: T): T {
  const { leadership, ...spec } = object["spec"] as Readonly<Record<string, unknown>>;
  const annotations = { ...object.metadata.annotations, [LEADERSHIP_ANNOTATION]: JSON.stringify(leadership) };
  return { ...object, metadata: { ...object.metadata, annotations }, spec };
}
