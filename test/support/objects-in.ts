import type { KubeObject } from "../../src/api/index.ts";
import type { TypeRef } from "../../src/api/schema/kind.ts";
import type { KubeClient } from "../../src/kube/index.ts";

/** Kinds of which all objects are listed. */
export type Kinds = readonly TypeRef<KubeObject>[];

/** All objects of these kinds. */
export async function objectsIn(client: KubeClient, kinds: Kinds): Promise<KubeObject[]> {
  return (await Promise.all(kinds.map((kind) => client.list(kind)))).flat();
}

/** What an object's conditions say, by their types. */
export function saidBy(object: KubeObject | undefined): Record<string, string> {
  const { status } = (object ?? {}) as Saying;
  return Object.fromEntries(status?.conditions?.map(({ type, status: is }) => [type, is]) ?? []);
}

type Saying = {
  readonly status?:
    { readonly conditions?: readonly { readonly type: string; readonly status: string }[] | undefined } | undefined;
};
