import type { Condition } from "../../src/api/cluster-api/index.ts";
import type { KubeObject } from "../../src/api/schema/meta.ts";
import { createReflector, type KubeClient, type Kind } from "../../src/kube/index.ts";

/** One change of a condition, as a watch told it. */
export interface ConditionChange {
  /** When the watch told it, by `Date.now()`. */
  readonly at: number;
  /** Kind and name of the object. */
  readonly object: string;
  readonly type: string;
  readonly status: Condition["status"];
  readonly reason: string;
  readonly message: string;
}

/** All that objects of some kinds say of themselves, from `started` until `stop`. */
export interface ConditionRecord {
  /** In the order of the watches: first what each object said at the beginning, then each change. */
  readonly changes: readonly ConditionChange[];
  /** Resolves once what was said at the beginning is in the record. */
  readonly started: Promise<unknown>;
  stop(): Promise<void>;
}

/** Records each change of status, reason or message of a condition of the objects of these kinds in a namespace. */
export function recordConditions(client: KubeClient, namespace: string, kinds: readonly Kind[]): ConditionRecord {
  const changes: ConditionChange[] = [];
  const reflectors = kinds.map((kind) =>
    createReflector(client, kind, {
      namespace,
      onEvent: ({ type, object, old }) => {
        if (type !== "deleted") changes.push(...changesOf(object, old));
      },
    }),
  );
  reflectors.forEach((one) => one.start());
  return {
    changes,
    started: Promise.all(reflectors.map((one) => one.synced())),
    stop: async () => void (await Promise.all(reflectors.map((one) => one.stop()))),
  };
}

/** One line for each change, the time first. */
export const renderChanges = (changes: readonly ConditionChange[]): string =>
  changes
    .map(({ at, object, type, status, reason, message }) =>
      [new Date(at).toISOString().slice(11, 23), object, type, status, reason, message.replaceAll("\n", " ")].join(" "),
    )
    .join("\n");

function changesOf(object: KubeObject, old: KubeObject | undefined): readonly ConditionChange[] {
  const said = new Set(conditionsOf(old).map(contentOf));
  return conditionsOf(object)
    .filter((condition) => !said.has(contentOf(condition)))
    .map(({ type, status, reason, message }) => ({
      at: Date.now(),
      object: `${object.kind} ${object.metadata.name}`,
      ...{ type, status, reason, message },
    }));
}

const contentOf = ({ type, status, reason, message }: Condition): string =>
  JSON.stringify([type, status, reason, message]);

function conditionsOf(object: KubeObject | undefined): readonly Condition[] {
  const { conditions = [] } = (object?.["status"] ?? {}) as { readonly conditions?: readonly Condition[] };
  return conditions;
}
