import { isDeepStrictEqual } from "node:util";
import type { Condition } from "../../api/cluster-api/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import { refOf, unlessGone, type KubeClient } from "../../kube/index.ts";
import { changedConditions, type Said } from "./conditions.ts";

/** An object of a provider's whose status we alone write. */
export interface Reporting extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined;
}

/**
 * Merges into an object's status what it is to say, with its conditions: those that are said take the place of those of their
 * types. Nothing is written where it says so already, and nothing is said of an object that has gone, or of another under its
 * name, which is a conflict.
 */
export async function say<T extends Reporting>(
  client: KubeClient,
  object: T,
  said: readonly Said[],
  fields: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const { generation, uid } = object.metadata;
  const present = object.status?.conditions ?? [];
  const changed = changedConditions(present, said, { generation });
  const others = present.filter(({ type }) => !said.some((one) => one.type === type));
  const known = (object.status ?? {}) as Readonly<Record<string, unknown>>;
  const news = Object.entries({ ...fields, observedGeneration: generation }).filter(
    ([name, value]) => !isDeepStrictEqual(known[name], value),
  );
  if (changed === undefined && news.length === 0) return;
  const status = { ...Object.fromEntries(news), ...(changed && { conditions: [...changed, ...others] }) };
  await unlessGone(client.patch(refOf(object), { metadata: { uid }, status }, { subresource: "status" }));
}
