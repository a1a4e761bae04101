import { isExtensionKind } from "../../activities/installation/extension-objects.ts";
import { definitionOf, type ExtensionKind } from "../../api/extensions/kinds.ts";
import { needed, type Pair } from "../../api/registration/demand.ts";
import { createReflector, type Kind, type KubeClient, type Reflector } from "../../kube/index.ts";
import type { KubeObject } from "../../api/schema/meta.ts";
import type { Logger } from "../../log.ts";
import { createSample, type Sample } from "./sample.ts";

/** `onChange` is told of a kind and type of which the seed has other examples than before. */
export interface ServedObjectsDeps {
  readonly seedClient: KubeClient;
  readonly log: Logger;
  readonly onChange: (pair: Pair) => void;
}

/** Which objects of which kinds and types a seed has; a kind is watched from when it is first asked for. */
export function createServedObjects({ seedClient, log, onChange }: ServedObjectsDeps) {
  const reflectors = new Map<ExtensionKind, Reflector<KubeObject>>();
  const types = new Map<string, string>();
  const samples = new Map<string, Sample>();

  const sampleOf = (pair: Pair): Sample => {
    const sample = samples.get(needed(pair)) ?? createSample();
    samples.set(needed(pair), sample);
    return sample;
  };

  const follow = (kind: ExtensionKind): Reflector<KubeObject> =>
    createReflector(seedClient, definitionOf(kind) as Kind, {
      log,
      keep: typeOnly,
      onEvent({ type: event, object: { metadata, ...object } }) {
        const id = `${kind} ${metadata.uid}`;
        const name = metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
        const before = types.get(id);
        const after = event === "deleted" ? undefined : ((object["spec"] as { type?: string } | undefined)?.type ?? "");
        if (before === after) return;
        if (after === undefined) types.delete(id);
        else types.set(id, after);
        if (after !== undefined && sampleOf({ kind, type: after }).add(name)) onChange({ kind, type: after });
        if (before !== undefined && sampleOf({ kind, type: before }).remove(name)) onChange({ kind, type: before });
      },
    });

  return {
    /** A few objects of each of these kinds and types, as `Kind type: namespace/name`; kinds that are no extension kinds have none. */
    async examples(pairs: readonly Pair[]): Promise<readonly string[]> {
      const kinds = [...new Set(pairs.map(({ kind }) => kind))].filter(isExtensionKind);
      for (const kind of kinds) {
        const reflector = reflectors.get(kind) ?? follow(kind);
        reflectors.set(kind, reflector);
        reflector.start();
        await reflector.synced();
      }
      return pairs.flatMap((pair) =>
        sampleOf(pair)
          .names()
          .map((name) => `${pair.kind} ${pair.type}: ${name}`),
      );
    },
    stop: async () => void (await Promise.all([...reflectors.values()].map((reflector) => reflector.stop()))),
  };
}

function typeOnly({ apiVersion, kind, metadata, ...object }: KubeObject): KubeObject {
  const { type } = (object["spec"] ?? {}) as { readonly type?: string };
  return { apiVersion, kind, metadata, spec: { type } };
}
