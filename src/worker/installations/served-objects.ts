import { isExtensionKind } from "../../activities/installation/extension-objects.ts";
import { definitionOf, type ExtensionKind } from "../../api/extensions/kinds.ts";
import { needed, type Pair } from "../../api/registration/demand.ts";
import { createReflector, type Kind, type KubeClient, type Reflector } from "../../kube/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { Logger } from "../../log.ts";

/** `onChange` is told of a kind and type of which the seed has its first object, or has lost its last. */
export interface ServedObjectsDeps {
  readonly seedClient: KubeClient;
  readonly log: Logger;
  readonly onChange: (pair: Pair) => void;
}

/** How many objects of which kinds and types a seed has; a kind is watched from when it is first asked for. */
export function createServedObjects({ seedClient, log, onChange }: ServedObjectsDeps) {
  const reflectors = new Map<ExtensionKind, Reflector<KubeObject>>();
  const types = new Map<string, string>();
  const counts = new Map<string, number>();

  const add = (pair: Pair, by: 1 | -1) => {
    const key = needed(pair);
    const now = (counts.get(key) ?? 0) + by;
    counts.set(key, now);
    if (now === 0 || now === by) onChange(pair);
  };

  const follow = (kind: ExtensionKind): Reflector<KubeObject> =>
    createReflector(seedClient, definitionOf(kind) as Kind, {
      log,
      keep: ({ apiVersion, kind: own, metadata }) => ({ apiVersion, kind: own, metadata }),
      onEvent({ type: event, object: { metadata, ...object } }) {
        const id = `${kind} ${metadata.uid}`;
        const before = types.get(id);
        const after = event === "deleted" ? undefined : ((object["spec"] as { type?: string } | undefined)?.type ?? "");
        if (before === after) return;
        if (after === undefined) types.delete(id);
        else types.set(id, after);
        if (after !== undefined) add({ kind, type: after }, 1);
        if (before !== undefined) add({ kind, type: before }, -1);
      },
    });

  return {
    /** How many objects there are of these kinds and types; kinds that are no extension kinds have none. */
    async count(pairs: readonly Pair[]): Promise<number> {
      const kinds = [...new Set(pairs.map(({ kind }) => kind))].filter(isExtensionKind);
      for (const kind of kinds) {
        const reflector = reflectors.get(kind) ?? follow(kind);
        reflectors.set(kind, reflector);
        reflector.start();
        await reflector.synced();
      }
      return pairs.reduce((sum, pair) => sum + (counts.get(needed(pair)) ?? 0), 0);
    },
    stop: async () => void (await Promise.all([...reflectors.values()].map((reflector) => reflector.stop()))),
  };
}
