import type { LastOperation } from "../../../src/api/index.ts";
import type { ExtensionObject } from "../../../src/extension/extension-object.ts";

/** The few things about an extension object that decisions depend on. */
export interface Sketch {
  readonly operation?: string;
  readonly timestamp?: string;
  readonly deleting?: boolean;
  readonly generation?: number;
  readonly finalizers?: string[];
  readonly last?: readonly [LastOperation["type"], LastOperation["state"]];
}

/** An Infrastructure of which a test says only what it is about. */
export function extensionObject(sketch: Sketch): ExtensionObject {
  const [type, state] = sketch.last ?? [];
  const annotations: Record<string, string> = {};
  if (sketch.operation) annotations["gardener.cloud/operation"] = sketch.operation;
  if (sketch.timestamp) annotations["gardener.cloud/timestamp"] = sketch.timestamp;
  const deletion = sketch.deleting ? { deletionTimestamp: "2026-11-21T03:00:00Z" } : {};
  return {
    apiVersion: "extensions.gardener.cloud/v1alpha1",
    kind: "Infrastructure",
    metadata: {
      name: "i",
      namespace: "shoot--dev--i",
      generation: sketch.generation ?? 1,
      annotations,
      finalizers: sketch.finalizers ?? [],
      ...deletion,
    },
    spec: { type: "local" },
    status:
      type && state
        ? { lastOperation: { type, state, progress: 50, description: "", lastUpdateTime: "2026-11-21T02:59:00Z" } }
        : {},
  };
}
